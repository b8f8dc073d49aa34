// Generated from scripts/*/*.lua by scripts/build-lua.mjs. Change those files, and run `npm run lua`.

/** Lists the lease records of a namespace. See scripts/lease/list-leases.lua. */
export const LIST_LEASES = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local FORGETFUL = 'forgetful'
local isForgotten = ARGV[1] == FORGETFUL and redis.call('HGET', KEYS[1], 'server') ~= server
if isForgotten then return {} end
return redis.call('HVALS', KEYS[1])`;

/** Reads some lease records of a namespace: those of the namespace itself, and those of some node ids. See scripts/lease/read-leases.lua. */
export const READ_LEASES = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local FORGETFUL = 'forgetful'
local isForgotten = ARGV[1] == FORGETFUL and redis.call('HGET', KEYS[1], 'server') ~= server
local found = {}
if isForgotten then return found end
local ids = { -2, -1 }
for id = tonumber(ARGV[2]), tonumber(ARGV[3]) do ids[#ids + 1] = id end
for _, record in ipairs(redis.call('HMGET', KEYS[1], unpack(ids))) do
  if record then found[#found + 1] = record end
end
return found`;

/** Reads the clock of this Redis. See scripts/lease/read-time.lua. */
export const READ_TIME = `
return redis.call('TIME')`;

/** Removes all records of a namespace that `idsmith verify` has made. See scripts/lease/remove-leases.lua. */
export const REMOVE_LEASES = `
return redis.call('DEL', KEYS[1])`;

/** Replaces a lease record, if the stored one is the expected one. See scripts/lease/swap-lease.lua. */
export const SWAP_LEASE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local FORGETFUL = 'forgetful'
local isForgotten = ARGV[1] == FORGETFUL and redis.call('HGET', KEYS[1], 'server') ~= server
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local id, expected, next = ARGV[2], ARGV[3], ARGV[4]
local current = not isForgotten and redis.call('HGET', KEYS[1], id)
if expected == '' then
  if current then return 0 end
elseif not current or string.sub(current, 1, #expected) ~= expected then
  return 0
end
if tonumber(ARGV[5]) < clock then return 0 end
local birth = not isForgotten and redis.call('HGET', KEYS[1], '-1')
if ARGV[6] ~= '' and (not birth or string.sub(birth, 1, #ARGV[6]) ~= ARGV[6]) then return 0 end
if isForgotten then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], 'server', server, id, next)
return 1`;

/** Opens a sequence for the node set that takes over, where no other node set mints. See scripts/mint/adopt-node-sequence.lua. */
export const ADOPT_NODE_SEQUENCE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local LAST_VARIANT = 3843
local key = KEYS[1]
local ring, nodes, epoch = ARGV[1], ARGV[2], tonumber(ARGV[3])
local lead, skew, seen = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local index, check = string.match(ARGV[7], '^(%d+) ?(%a*)$')
local now = clock - epoch
if now < 0 then return redis.error_reply('ERR the clock of this server is before the epoch of the map') end
local keyType = redis.call('TYPE', key)['ok']
if keyType ~= 'hash' and keyType ~= 'string' and keyType ~= 'none' then
  return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a ' .. keyType .. ', not a sequence')
end
local sequence = {}
if keyType == 'hash' then
  local flat = redis.call('HGETALL', key)
  for i = 1, #flat, 2 do sequence[flat[i]] = flat[i + 1] end
  if not sequence.ring and not sequence.sum then
    return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a hash that is not a sequence')
  end
end
local function integerText(number) return string.format('%.0f', number) end
local function checksum()
  local text = ''
  for _, field in ipairs({ 'ring', 'state', 'next', 'generation', 'server', 'from', 'ms', 'variant' }) do
    text = text .. (sequence[field] or '?') .. ' '
  end
  return redis.sha1hex(text)
end
if not sequence.ring or sequence.sum ~= checksum() then sequence = {} end
local isLost = not sequence.ring or sequence.server ~= server or tonumber(sequence.ms) < seen
local isMisplaced = sequence.ring == ring and check == 'check' and sequence.index and sequence.index ~= index
local high = tonumber(sequence.ms or 0)
if isLost then high = math.max(high, seen, now + lead + skew) end
local function write(state, next, generation, ms)
  high = ms
  sequence = { ring = ring, state = state, next = next, generation = integerText(generation), server = server,
    from = integerText(ms), ms = integerText(ms), variant = integerText(LAST_VARIANT) }
  isMisplaced = false
  redis.call('DEL', key)
  redis.call('HSET', key, 'ring', ring, 'nodes', nodes, 'state', state, 'next', next, 'generation', sequence.generation,
    'server', server, 'from', sequence.from, 'ms', sequence.ms, 'variant', sequence.variant, 'index', index, 'sum', checksum())
  isLost = false
end
local function status()
  local owner = 'foreign'
  if sequence.ring == ring then owner = isMisplaced and 'misplaced' or 'own' end
  if not sequence.ring then owner = 'missing' end
  return { owner, sequence.state or '', sequence.next or '', sequence.nodes or '', tonumber(sequence.generation or 0), high,
    isLost and 1 or 0, sequence.ring or '', now, tonumber(sequence.from or 0) }
end
local base, generation = tonumber(ARGV[8]), tonumber(ARGV[9])
local isFree = not sequence.ring or sequence.state ~= 'open' or (sequence.ring == ring and isLost)
local isNewer = tonumber(sequence.generation or 0) < generation
if isFree and (isNewer or (sequence.ring == ring and sequence.state ~= 'closed')) then
  write('open', '', generation, math.max(high, base))
end
return status()`;

/** Ends minting for this node set. See scripts/mint/close-node-sequence.lua. */
export const CLOSE_NODE_SEQUENCE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local LAST_VARIANT = 3843
local key = KEYS[1]
local ring, nodes, epoch = ARGV[1], ARGV[2], tonumber(ARGV[3])
local lead, skew, seen = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local index, check = string.match(ARGV[7], '^(%d+) ?(%a*)$')
local now = clock - epoch
if now < 0 then return redis.error_reply('ERR the clock of this server is before the epoch of the map') end
local keyType = redis.call('TYPE', key)['ok']
if keyType ~= 'hash' and keyType ~= 'string' and keyType ~= 'none' then
  return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a ' .. keyType .. ', not a sequence')
end
local sequence = {}
if keyType == 'hash' then
  local flat = redis.call('HGETALL', key)
  for i = 1, #flat, 2 do sequence[flat[i]] = flat[i + 1] end
  if not sequence.ring and not sequence.sum then
    return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a hash that is not a sequence')
  end
end
local function integerText(number) return string.format('%.0f', number) end
local function checksum()
  local text = ''
  for _, field in ipairs({ 'ring', 'state', 'next', 'generation', 'server', 'from', 'ms', 'variant' }) do
    text = text .. (sequence[field] or '?') .. ' '
  end
  return redis.sha1hex(text)
end
if not sequence.ring or sequence.sum ~= checksum() then sequence = {} end
local isLost = not sequence.ring or sequence.server ~= server or tonumber(sequence.ms) < seen
local isMisplaced = sequence.ring == ring and check == 'check' and sequence.index and sequence.index ~= index
local high = tonumber(sequence.ms or 0)
if isLost then high = math.max(high, seen, now + lead + skew) end
local function write(state, next, generation, ms)
  high = ms
  sequence = { ring = ring, state = state, next = next, generation = integerText(generation), server = server,
    from = integerText(ms), ms = integerText(ms), variant = integerText(LAST_VARIANT) }
  isMisplaced = false
  redis.call('DEL', key)
  redis.call('HSET', key, 'ring', ring, 'nodes', nodes, 'state', state, 'next', next, 'generation', sequence.generation,
    'server', server, 'from', sequence.from, 'ms', sequence.ms, 'variant', sequence.variant, 'index', index, 'sum', checksum())
  isLost = false
end
local function status()
  local owner = 'foreign'
  if sequence.ring == ring then owner = isMisplaced and 'misplaced' or 'own' end
  if not sequence.ring then owner = 'missing' end
  return { owner, sequence.state or '', sequence.next or '', sequence.nodes or '', tonumber(sequence.generation or 0), high,
    isLost and 1 or 0, sequence.ring or '', now, tonumber(sequence.from or 0) }
end
local next, generation = ARGV[8], tonumber(ARGV[9])
local isOurs = not sequence.ring or (sequence.ring == ring and sequence.state ~= 'closed') or sequence.state == 'pending'
if isOurs and not isMisplaced and tonumber(sequence.generation or 0) <= generation then write('closed', next, generation, high) end
return status()`;

/** Reserves keys: as many as are asked for, or fewer, because no key lies more than `lead` ahead of the clock. See scripts/mint/mint-keys.lua. */
export const MINT_KEYS = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local LAST_VARIANT = 3843
local key = KEYS[1]
local ring, nodes, epoch = ARGV[1], ARGV[2], tonumber(ARGV[3])
local lead, skew, seen = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local index, check = string.match(ARGV[7], '^(%d+) ?(%a*)$')
local now = clock - epoch
if now < 0 then return redis.error_reply('ERR the clock of this server is before the epoch of the map') end
local keyType = redis.call('TYPE', key)['ok']
if keyType ~= 'hash' and keyType ~= 'string' and keyType ~= 'none' then
  return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a ' .. keyType .. ', not a sequence')
end
local sequence = {}
if keyType == 'hash' then
  local flat = redis.call('HGETALL', key)
  for i = 1, #flat, 2 do sequence[flat[i]] = flat[i + 1] end
  if not sequence.ring and not sequence.sum then
    return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a hash that is not a sequence')
  end
end
local function integerText(number) return string.format('%.0f', number) end
local function checksum()
  local text = ''
  for _, field in ipairs({ 'ring', 'state', 'next', 'generation', 'server', 'from', 'ms', 'variant' }) do
    text = text .. (sequence[field] or '?') .. ' '
  end
  return redis.sha1hex(text)
end
if not sequence.ring or sequence.sum ~= checksum() then sequence = {} end
local isLost = not sequence.ring or sequence.server ~= server or tonumber(sequence.ms) < seen
local isMisplaced = sequence.ring == ring and check == 'check' and sequence.index and sequence.index ~= index
local high = tonumber(sequence.ms or 0)
if isLost then high = math.max(high, seen, now + lead + skew) end
local function write(state, next, generation, ms)
  high = ms
  sequence = { ring = ring, state = state, next = next, generation = integerText(generation), server = server,
    from = integerText(ms), ms = integerText(ms), variant = integerText(LAST_VARIANT) }
  isMisplaced = false
  redis.call('DEL', key)
  redis.call('HSET', key, 'ring', ring, 'nodes', nodes, 'state', state, 'next', next, 'generation', sequence.generation,
    'server', server, 'from', sequence.from, 'ms', sequence.ms, 'variant', sequence.variant, 'index', index, 'sum', checksum())
  isLost = false
end
local function status()
  local owner = 'foreign'
  if sequence.ring == ring then owner = isMisplaced and 'misplaced' or 'own' end
  if not sequence.ring then owner = 'missing' end
  return { owner, sequence.state or '', sequence.next or '', sequence.nodes or '', tonumber(sequence.generation or 0), high,
    isLost and 1 or 0, sequence.ring or '', now, tonumber(sequence.from or 0) }
end
local FRESH_FIRST = 0
local FRESH_LAST = 1611
local HANDOVER_FIRST = 1612
local HANDOVER_LAST = 3223
local UNSURE_FIRST = 3224
local UNSURE_LAST = 3843
if sequence.ring ~= ring or sequence.state ~= 'open' or isLost or isMisplaced then return status() end
local own, size = tonumber(index), tonumber(ARGV[8])
local count, above = tonumber(ARGV[9]), tonumber(ARGV[10])
local function ownFrom(ms) return ms + (own - ms) % size end
local first, final, limit = UNSURE_FIRST, UNSURE_LAST, now + lead
if ARGV[11] == 'sure' and tonumber(ARGV[12]) >= now then
  first, final, limit = FRESH_FIRST, FRESH_LAST, math.min(limit, tonumber(ARGV[12]))
  if sequence.generation ~= '1' then first, final = HANDOVER_FIRST, HANDOVER_LAST end
end
local ms, variant = ownFrom(math.max(now, above)), first
local last, lastVariant = tonumber(sequence.ms), tonumber(sequence.variant)
if ms <= last then
  if lastVariant < final then ms, variant = last, math.max(lastVariant + 1, first) else ms = ownFrom(last + 1) end
end
local from = tonumber(sequence.from)
if ms > limit then return { 'wait', from, now, ms - limit } end
local width = final - first + 1
local granted = math.min(count, final + 1 - variant + math.floor((limit - ms) / size) * width)
local restIn = math.max(0, ms + math.floor((variant - first + count - 1) / width) * size - limit)
local offset = variant - first + granted - 1
sequence.ms = integerText(ms + math.floor(offset / width) * size)
sequence.variant = integerText(first + offset % width)
redis.call('HSET', key, 'ms', sequence.ms, 'variant', sequence.variant, 'index', index, 'sum', checksum())
return { 'keys', from, now, ms, variant, granted, restIn, first, final }`;

/** Opens a sequence that is pending or was lost. See scripts/mint/open-node-sequence.lua. */
export const OPEN_NODE_SEQUENCE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local LAST_VARIANT = 3843
local key = KEYS[1]
local ring, nodes, epoch = ARGV[1], ARGV[2], tonumber(ARGV[3])
local lead, skew, seen = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local index, check = string.match(ARGV[7], '^(%d+) ?(%a*)$')
local now = clock - epoch
if now < 0 then return redis.error_reply('ERR the clock of this server is before the epoch of the map') end
local keyType = redis.call('TYPE', key)['ok']
if keyType ~= 'hash' and keyType ~= 'string' and keyType ~= 'none' then
  return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a ' .. keyType .. ', not a sequence')
end
local sequence = {}
if keyType == 'hash' then
  local flat = redis.call('HGETALL', key)
  for i = 1, #flat, 2 do sequence[flat[i]] = flat[i + 1] end
  if not sequence.ring and not sequence.sum then
    return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a hash that is not a sequence')
  end
end
local function integerText(number) return string.format('%.0f', number) end
local function checksum()
  local text = ''
  for _, field in ipairs({ 'ring', 'state', 'next', 'generation', 'server', 'from', 'ms', 'variant' }) do
    text = text .. (sequence[field] or '?') .. ' '
  end
  return redis.sha1hex(text)
end
if not sequence.ring or sequence.sum ~= checksum() then sequence = {} end
local isLost = not sequence.ring or sequence.server ~= server or tonumber(sequence.ms) < seen
local isMisplaced = sequence.ring == ring and check == 'check' and sequence.index and sequence.index ~= index
local high = tonumber(sequence.ms or 0)
if isLost then high = math.max(high, seen, now + lead + skew) end
local function write(state, next, generation, ms)
  high = ms
  sequence = { ring = ring, state = state, next = next, generation = integerText(generation), server = server,
    from = integerText(ms), ms = integerText(ms), variant = integerText(LAST_VARIANT) }
  isMisplaced = false
  redis.call('DEL', key)
  redis.call('HSET', key, 'ring', ring, 'nodes', nodes, 'state', state, 'next', next, 'generation', sequence.generation,
    'server', server, 'from', sequence.from, 'ms', sequence.ms, 'variant', sequence.variant, 'index', index, 'sum', checksum())
  isLost = false
end
local function status()
  local owner = 'foreign'
  if sequence.ring == ring then owner = isMisplaced and 'misplaced' or 'own' end
  if not sequence.ring then owner = 'missing' end
  return { owner, sequence.state or '', sequence.next or '', sequence.nodes or '', tonumber(sequence.generation or 0), high,
    isLost and 1 or 0, sequence.ring or '', now, tonumber(sequence.from or 0) }
end
if sequence.ring == ring and not isMisplaced and (sequence.state == 'pending' or (sequence.state == 'open' and isLost)) then
  write('open', '', tonumber(sequence.generation), math.max(high, tonumber(ARGV[8])))
end
return status()`;

/** Writes a pending sequence where there is none. See scripts/mint/prepare-node-sequence.lua. */
export const PREPARE_NODE_SEQUENCE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local LAST_VARIANT = 3843
local key = KEYS[1]
local ring, nodes, epoch = ARGV[1], ARGV[2], tonumber(ARGV[3])
local lead, skew, seen = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local index, check = string.match(ARGV[7], '^(%d+) ?(%a*)$')
local now = clock - epoch
if now < 0 then return redis.error_reply('ERR the clock of this server is before the epoch of the map') end
local keyType = redis.call('TYPE', key)['ok']
if keyType ~= 'hash' and keyType ~= 'string' and keyType ~= 'none' then
  return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a ' .. keyType .. ', not a sequence')
end
local sequence = {}
if keyType == 'hash' then
  local flat = redis.call('HGETALL', key)
  for i = 1, #flat, 2 do sequence[flat[i]] = flat[i + 1] end
  if not sequence.ring and not sequence.sum then
    return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a hash that is not a sequence')
  end
end
local function integerText(number) return string.format('%.0f', number) end
local function checksum()
  local text = ''
  for _, field in ipairs({ 'ring', 'state', 'next', 'generation', 'server', 'from', 'ms', 'variant' }) do
    text = text .. (sequence[field] or '?') .. ' '
  end
  return redis.sha1hex(text)
end
if not sequence.ring or sequence.sum ~= checksum() then sequence = {} end
local isLost = not sequence.ring or sequence.server ~= server or tonumber(sequence.ms) < seen
local isMisplaced = sequence.ring == ring and check == 'check' and sequence.index and sequence.index ~= index
local high = tonumber(sequence.ms or 0)
if isLost then high = math.max(high, seen, now + lead + skew) end
local function write(state, next, generation, ms)
  high = ms
  sequence = { ring = ring, state = state, next = next, generation = integerText(generation), server = server,
    from = integerText(ms), ms = integerText(ms), variant = integerText(LAST_VARIANT) }
  isMisplaced = false
  redis.call('DEL', key)
  redis.call('HSET', key, 'ring', ring, 'nodes', nodes, 'state', state, 'next', next, 'generation', sequence.generation,
    'server', server, 'from', sequence.from, 'ms', sequence.ms, 'variant', sequence.variant, 'index', index, 'sum', checksum())
  isLost = false
end
local function status()
  local owner = 'foreign'
  if sequence.ring == ring then owner = isMisplaced and 'misplaced' or 'own' end
  if not sequence.ring then owner = 'missing' end
  return { owner, sequence.state or '', sequence.next or '', sequence.nodes or '', tonumber(sequence.generation or 0), high,
    isLost and 1 or 0, sequence.ring or '', now, tonumber(sequence.from or 0) }
end
if not sequence.ring then write('pending', '', tonumber(ARGV[8]), high) end
return status()`;

/** Reads the status of the sequence of a node. See scripts/mint/read-node-sequence.lua. */
export const READ_NODE_SEQUENCE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local LAST_VARIANT = 3843
local key = KEYS[1]
local ring, nodes, epoch = ARGV[1], ARGV[2], tonumber(ARGV[3])
local lead, skew, seen = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local index, check = string.match(ARGV[7], '^(%d+) ?(%a*)$')
local now = clock - epoch
if now < 0 then return redis.error_reply('ERR the clock of this server is before the epoch of the map') end
local keyType = redis.call('TYPE', key)['ok']
if keyType ~= 'hash' and keyType ~= 'string' and keyType ~= 'none' then
  return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a ' .. keyType .. ', not a sequence')
end
local sequence = {}
if keyType == 'hash' then
  local flat = redis.call('HGETALL', key)
  for i = 1, #flat, 2 do sequence[flat[i]] = flat[i + 1] end
  if not sequence.ring and not sequence.sum then
    return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a hash that is not a sequence')
  end
end
local function integerText(number) return string.format('%.0f', number) end
local function checksum()
  local text = ''
  for _, field in ipairs({ 'ring', 'state', 'next', 'generation', 'server', 'from', 'ms', 'variant' }) do
    text = text .. (sequence[field] or '?') .. ' '
  end
  return redis.sha1hex(text)
end
if not sequence.ring or sequence.sum ~= checksum() then sequence = {} end
local isLost = not sequence.ring or sequence.server ~= server or tonumber(sequence.ms) < seen
local isMisplaced = sequence.ring == ring and check == 'check' and sequence.index and sequence.index ~= index
local high = tonumber(sequence.ms or 0)
if isLost then high = math.max(high, seen, now + lead + skew) end
local function write(state, next, generation, ms)
  high = ms
  sequence = { ring = ring, state = state, next = next, generation = integerText(generation), server = server,
    from = integerText(ms), ms = integerText(ms), variant = integerText(LAST_VARIANT) }
  isMisplaced = false
  redis.call('DEL', key)
  redis.call('HSET', key, 'ring', ring, 'nodes', nodes, 'state', state, 'next', next, 'generation', sequence.generation,
    'server', server, 'from', sequence.from, 'ms', sequence.ms, 'variant', sequence.variant, 'index', index, 'sum', checksum())
  isLost = false
end
local function status()
  local owner = 'foreign'
  if sequence.ring == ring then owner = isMisplaced and 'misplaced' or 'own' end
  if not sequence.ring then owner = 'missing' end
  return { owner, sequence.state or '', sequence.next or '', sequence.nodes or '', tonumber(sequence.generation or 0), high,
    isLost and 1 or 0, sequence.ring or '', now, tonumber(sequence.from or 0) }
end
return status()`;

/** Deletes a pending sequence whose node set cannot begin. See scripts/mint/withdraw-node-sequence.lua. */
export const WITHDRAW_NODE_SEQUENCE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local LAST_VARIANT = 3843
local key = KEYS[1]
local ring, nodes, epoch = ARGV[1], ARGV[2], tonumber(ARGV[3])
local lead, skew, seen = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local index, check = string.match(ARGV[7], '^(%d+) ?(%a*)$')
local now = clock - epoch
if now < 0 then return redis.error_reply('ERR the clock of this server is before the epoch of the map') end
local keyType = redis.call('TYPE', key)['ok']
if keyType ~= 'hash' and keyType ~= 'string' and keyType ~= 'none' then
  return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a ' .. keyType .. ', not a sequence')
end
local sequence = {}
if keyType == 'hash' then
  local flat = redis.call('HGETALL', key)
  for i = 1, #flat, 2 do sequence[flat[i]] = flat[i + 1] end
  if not sequence.ring and not sequence.sum then
    return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a hash that is not a sequence')
  end
end
local function integerText(number) return string.format('%.0f', number) end
local function checksum()
  local text = ''
  for _, field in ipairs({ 'ring', 'state', 'next', 'generation', 'server', 'from', 'ms', 'variant' }) do
    text = text .. (sequence[field] or '?') .. ' '
  end
  return redis.sha1hex(text)
end
if not sequence.ring or sequence.sum ~= checksum() then sequence = {} end
local isLost = not sequence.ring or sequence.server ~= server or tonumber(sequence.ms) < seen
local isMisplaced = sequence.ring == ring and check == 'check' and sequence.index and sequence.index ~= index
local high = tonumber(sequence.ms or 0)
if isLost then high = math.max(high, seen, now + lead + skew) end
local function write(state, next, generation, ms)
  high = ms
  sequence = { ring = ring, state = state, next = next, generation = integerText(generation), server = server,
    from = integerText(ms), ms = integerText(ms), variant = integerText(LAST_VARIANT) }
  isMisplaced = false
  redis.call('DEL', key)
  redis.call('HSET', key, 'ring', ring, 'nodes', nodes, 'state', state, 'next', next, 'generation', sequence.generation,
    'server', server, 'from', sequence.from, 'ms', sequence.ms, 'variant', sequence.variant, 'index', index, 'sum', checksum())
  isLost = false
end
local function status()
  local owner = 'foreign'
  if sequence.ring == ring then owner = isMisplaced and 'misplaced' or 'own' end
  if not sequence.ring then owner = 'missing' end
  return { owner, sequence.state or '', sequence.next or '', sequence.nodes or '', tonumber(sequence.generation or 0), high,
    isLost and 1 or 0, sequence.ring or '', now, tonumber(sequence.from or 0) }
end
if sequence.ring == ring and not isMisplaced and sequence.state == 'pending' then
  redis.call('DEL', key)
  sequence = {}
end
return status()`;

/** CLAIM: lists keys on the target with a new claim number. See scripts/move/claim-keys.lua. */
export const CLAIM_KEYS = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
local STALE = 'stale'
local list, isBack = KEYS[2], ARGV[2] == 'back'
local isSlot = string.find(state, '{', 1, true) ~= nil
local moverRound = tonumber(ARGV[3])
local isPresentRound = knownRound == moverRound
if isSlot then
  isChecked = true
  if knownRound < moverRound then phase, isPresentRound = 'before', true end
end
local function nextNumber(mover, field)
  if not isSlot then return mover .. '.' .. redis.call('HINCRBY', state, field, 1) end
  local time = redis.call('TIME')
  return mover .. '.' .. time[1] .. '.' .. time[2]
end
local function countStep(field) return isSlot and 1 or redis.call('HINCRBY', state, field, 1) end
local function note(field, number)
  if isSlot then return end
  if tonumber(number) > tonumber(redis.call('HGET', state, field) or 0) then redis.call('HSET', state, field, number) end
end
local function staleReply() return { STALE, unpack(answer()) } end
local keys = ARGV[4] ~= '' and cmsgpack.unpack(ARGV[4]) or {}
for i = 3, #KEYS do keys[i - 2] = KEYS[i] end
local CHUNK = 1000
local function readList(name)
  local entries = {}
  for i = 1, #keys, CHUNK do
    local texts = redis.call('HMGET', name or list, unpack(keys, i, math.min(i + CHUNK - 1, #keys)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, addedCount, removed, removedCount = {}, 0, {}, 0
local function addEntry(key, text)
  added[addedCount + 1], added[addedCount + 2] = key, text
  addedCount = addedCount + 2
end
local function removeEntry(key)
  removedCount = removedCount + 1
  removed[removedCount] = key
end
local FLAT, LONG = 16, string.rep(' ', 1000)
local function writeList()
  if addedCount > 2 * FLAT then redis.call('HSET', list, added[1], LONG) end
  for i = 1, addedCount, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, addedCount)))
  end
  for i = 1, removedCount, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, removedCount)))
  end
end
local letters, letterCount = {}, 0
local function addLetter(letter)
  letterCount = letterCount + 1
  letters[letterCount] = letter
end
local function allLetters() return table.concat(letters) end
local isTaking = phase ~= 'other' and phase ~= 'earlier' and phase ~= 'stopping' and phase ~= 'returning' and phase ~= 'aborted'
if isBack then isTaking = phase == 'stopping' or phase == 'returning' end
if not isTaking or not isChecked or not isPresentRound then return staleReply() end
local function hasNoKey()
  for i = 1, #keys, CHUNK do
    if redis.call('EXISTS', unpack(keys, i, math.min(i + CHUNK - 1, #keys))) > 0 then return false end
  end
  return true
end
local function claimOf(entry)
  if not entry then return nil end
  return string.match(entry, '^(%S+) (.*)$')
end
local function beginsWith(entry, text) return entry and string.sub(entry, 1, #text) == text end
local SHORT = 40
local function plainDigest(value) return #value <= SHORT and '=' .. value or 's' .. redis.sha1hex(value) end
local function isCopy(key, digest)
  if not digest or digest == '' then return false end
  if not string.find(digest, '^[=s]') then return digest == redis.sha1hex(redis.call('DUMP', key)) end
  local value = redis.call('MGET', key)[1]
  return value and redis.call('PTTL', key) < 0 and plainDigest(value) == digest
end
local number = nextNumber(ARGV[5], 'claims')
local free = number .. ' '
local isEmpty = hasNoKey()
local entries = isEmpty and {} or readList()
local others = isBack and readList(ARGV[6]) or {}
for i = 1, #keys do
  local key = keys[i]
  if others[i] then
    removeEntry(key)
    addLetter('t')
  elseif isEmpty or redis.call('EXISTS', key) == 0 then
    addEntry(key, free)
    addLetter('f')
  else
    local _, digest = claimOf(entries[i])
    if isCopy(key, digest) then
      addEntry(key, free .. digest)
      addLetter('c')
    else
      removeEntry(key)
      addLetter('t')
    end
  end
end
writeList()
return { number, allLetters() }`;

/** DROP: deletes keys on the source, if they are as they were taken. See scripts/move/drop-keys.lua. */
export const DROP_KEYS = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
local STALE = 'stale'
local list, isBack = KEYS[2], ARGV[2] == 'back'
local isSlot = string.find(state, '{', 1, true) ~= nil
local moverRound = tonumber(ARGV[3])
local isPresentRound = knownRound == moverRound
if isSlot then
  isChecked = true
  if knownRound < moverRound then phase, isPresentRound = 'before', true end
end
local function nextNumber(mover, field)
  if not isSlot then return mover .. '.' .. redis.call('HINCRBY', state, field, 1) end
  local time = redis.call('TIME')
  return mover .. '.' .. time[1] .. '.' .. time[2]
end
local function countStep(field) return isSlot and 1 or redis.call('HINCRBY', state, field, 1) end
local function note(field, number)
  if isSlot then return end
  if tonumber(number) > tonumber(redis.call('HGET', state, field) or 0) then redis.call('HSET', state, field, number) end
end
local function staleReply() return { STALE, unpack(answer()) } end
local keys = ARGV[4] ~= '' and cmsgpack.unpack(ARGV[4]) or {}
for i = 3, #KEYS do keys[i - 2] = KEYS[i] end
local CHUNK = 1000
local function readList(name)
  local entries = {}
  for i = 1, #keys, CHUNK do
    local texts = redis.call('HMGET', name or list, unpack(keys, i, math.min(i + CHUNK - 1, #keys)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, addedCount, removed, removedCount = {}, 0, {}, 0
local function addEntry(key, text)
  added[addedCount + 1], added[addedCount + 2] = key, text
  addedCount = addedCount + 2
end
local function removeEntry(key)
  removedCount = removedCount + 1
  removed[removedCount] = key
end
local FLAT, LONG = 16, string.rep(' ', 1000)
local function writeList()
  if addedCount > 2 * FLAT then redis.call('HSET', list, added[1], LONG) end
  for i = 1, addedCount, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, addedCount)))
  end
  for i = 1, removedCount, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, removedCount)))
  end
end
local letters, letterCount = {}, 0
local function addLetter(letter)
  letterCount = letterCount + 1
  letters[letterCount] = letter
end
local function allLetters() return table.concat(letters) end
redis.call('HDEL', KEYS[1], '')
local isGiving = phase == 'moving' or phase == 'done'
if isBack then isGiving = phase == 'returning' end
if not isGiving or not isChecked or not isPresentRound then return staleReply() end
local expiryTolerance = 0
local function expiryOf(key)
  if expiryTolerance == 0 then
    local expiry = redis.pcall('PEXPIRETIME', key)
    if type(expiry) == 'number' then return expiry end
    expiryTolerance = 100
  end
  local ttl, now = redis.call('PTTL', key), redis.call('TIME')
  return ttl < 0 and ttl or now[1] * 1000 + math.floor(now[2] / 1000) + ttl
end
local keyspace = redis.call('INFO', 'keyspace')
local hasExpiries = not string.find(keyspace, 'expires=0') or string.find(keyspace, 'expires=[1-9]') ~= nil
local function readBlock(first, last)
  local values, expiries = redis.call('MGET', unpack(keys, first, last)), {}
  for row = 1, last - first + 1 do
    if hasExpiries or not values[row] then
      local key = keys[first + row - 1]
      local expiry = hasExpiries and expiryOf(key) or -1
      if not values[row] or expiry >= 0 then
        local dump = redis.call('DUMP', key)
        values[row] = dump and { dump }
        if dump and expiry >= 0 then expiries[row] = expiry end
      end
    end
  end
  return values, expiries
end
local number, fates, entries = ARGV[5], ARGV[8], readList()
local isAllDeleted = fates == ''
local expiries = {}
for row, expiry in string.gmatch(ARGV[7], '(%d+) (%d+)') do expiries[tonumber(row)] = tonumber(expiry) end
local function isSameExpiry(now, taken)
  if not now or not taken then return not now and not taken end
  return math.abs(now - taken) <= expiryTolerance
end
local dropped, droppedCount, first = {}, 0, 1
for count, digest in string.gmatch(ARGV[6], '(%d+) (%w+)') do
  local last = first + tonumber(count) - 1
  local values, times = readBlock(first, last)
  local isSame = redis.sha1hex(cmsgpack.pack(values)) == digest
  if hasExpiries or ARGV[7] ~= '' then
    for i = first, last do
      isSame = isSame and isSameExpiry(times[i - first + 1], expiries[i])
    end
  end
  for i = first, last do
    if entries[i] ~= number or (not isAllDeleted and string.sub(fates, i, i) == 'k') then
      addLetter('l')
    elseif isSame then
      droppedCount = droppedCount + 1
      dropped[droppedCount] = keys[i]
      addLetter('d')
    else
      addLetter(values[i - first + 1] and 'c' or 'o')
    end
  end
  first = last + 1
end
for i = 1, droppedCount, CHUNK do
  local last = math.min(i + CHUNK - 1, droppedCount)
  redis.call('UNLINK', unpack(dropped, i, last))
  redis.call('HDEL', list, unpack(dropped, i, last))
end
note('put:' .. ARGV[9], ARGV[10])
return { allLetters(), countStep('drops') }`;

/** Finds keys on the source. See scripts/move/find-keys.lua. */
export const FIND_KEYS = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
local STALE = 'stale'
local list, isBack = KEYS[2], ARGV[2] == 'back'
local isSlot = string.find(state, '{', 1, true) ~= nil
local moverRound = tonumber(ARGV[3])
local isPresentRound = knownRound == moverRound
if isSlot then
  isChecked = true
  if knownRound < moverRound then phase, isPresentRound = 'before', true end
end
local function nextNumber(mover, field)
  if not isSlot then return mover .. '.' .. redis.call('HINCRBY', state, field, 1) end
  local time = redis.call('TIME')
  return mover .. '.' .. time[1] .. '.' .. time[2]
end
local function countStep(field) return isSlot and 1 or redis.call('HINCRBY', state, field, 1) end
local function note(field, number)
  if isSlot then return end
  if tonumber(number) > tonumber(redis.call('HGET', state, field) or 0) then redis.call('HSET', state, field, number) end
end
local function staleReply() return { STALE, unpack(answer()) } end
local keys = ARGV[4] ~= '' and cmsgpack.unpack(ARGV[4]) or {}
for i = 3, #KEYS do keys[i - 2] = KEYS[i] end
local CHUNK = 1000
local function readList(name)
  local entries = {}
  for i = 1, #keys, CHUNK do
    local texts = redis.call('HMGET', name or list, unpack(keys, i, math.min(i + CHUNK - 1, #keys)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, addedCount, removed, removedCount = {}, 0, {}, 0
local function addEntry(key, text)
  added[addedCount + 1], added[addedCount + 2] = key, text
  addedCount = addedCount + 2
end
local function removeEntry(key)
  removedCount = removedCount + 1
  removed[removedCount] = key
end
local FLAT, LONG = 16, string.rep(' ', 1000)
local function writeList()
  if addedCount > 2 * FLAT then redis.call('HSET', list, added[1], LONG) end
  for i = 1, addedCount, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, addedCount)))
  end
  for i = 1, removedCount, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, removedCount)))
  end
end
local letters, letterCount = {}, 0
local function addLetter(letter)
  letterCount = letterCount + 1
  letters[letterCount] = letter
end
local function allLetters() return table.concat(letters) end
redis.call('HDEL', KEYS[1], '')
local isGiving = phase == 'moving' or phase == 'done'
if isBack then isGiving = phase == 'returning' end
if not isGiving or not isChecked or not isPresentRound then return staleReply() end
local entries = readList()
for i = 1, #keys do
  addLetter((entries[i] or redis.call('EXISTS', keys[i]) == 1) and 'h' or 'a')
end
return { allLetters() }`;

/** Removes orphans from the list of the source, after their copies are gone. See scripts/move/free-orphans.lua. */
export const FREE_ORPHANS = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
local STALE = 'stale'
local list, isBack = KEYS[2], ARGV[2] == 'back'
local isSlot = string.find(state, '{', 1, true) ~= nil
local moverRound = tonumber(ARGV[3])
local isPresentRound = knownRound == moverRound
if isSlot then
  isChecked = true
  if knownRound < moverRound then phase, isPresentRound = 'before', true end
end
local function nextNumber(mover, field)
  if not isSlot then return mover .. '.' .. redis.call('HINCRBY', state, field, 1) end
  local time = redis.call('TIME')
  return mover .. '.' .. time[1] .. '.' .. time[2]
end
local function countStep(field) return isSlot and 1 or redis.call('HINCRBY', state, field, 1) end
local function note(field, number)
  if isSlot then return end
  if tonumber(number) > tonumber(redis.call('HGET', state, field) or 0) then redis.call('HSET', state, field, number) end
end
local function staleReply() return { STALE, unpack(answer()) } end
local keys = ARGV[4] ~= '' and cmsgpack.unpack(ARGV[4]) or {}
for i = 3, #KEYS do keys[i - 2] = KEYS[i] end
local CHUNK = 1000
local function readList(name)
  local entries = {}
  for i = 1, #keys, CHUNK do
    local texts = redis.call('HMGET', name or list, unpack(keys, i, math.min(i + CHUNK - 1, #keys)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, addedCount, removed, removedCount = {}, 0, {}, 0
local function addEntry(key, text)
  added[addedCount + 1], added[addedCount + 2] = key, text
  addedCount = addedCount + 2
end
local function removeEntry(key)
  removedCount = removedCount + 1
  removed[removedCount] = key
end
local FLAT, LONG = 16, string.rep(' ', 1000)
local function writeList()
  if addedCount > 2 * FLAT then redis.call('HSET', list, added[1], LONG) end
  for i = 1, addedCount, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, addedCount)))
  end
  for i = 1, removedCount, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, removedCount)))
  end
end
local letters, letterCount = {}, 0
local function addLetter(letter)
  letterCount = letterCount + 1
  letters[letterCount] = letter
end
local function allLetters() return table.concat(letters) end
redis.call('HDEL', KEYS[1], '')
local isGiving = phase == 'moving' or phase == 'done'
if isBack then isGiving = phase == 'returning' end
if not isGiving or not isChecked or not isPresentRound then return staleReply() end
local entries = readList()
for i = 1, #keys do
  if entries[i] == ARGV[5] then removeEntry(keys[i]) end
end
writeList()
return { '' }`;

/** PUT: writes copies on the target. See scripts/move/put-keys.lua. */
export const PUT_KEYS = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
local STALE = 'stale'
local list, isBack = KEYS[2], ARGV[2] == 'back'
local isSlot = string.find(state, '{', 1, true) ~= nil
local moverRound = tonumber(ARGV[3])
local isPresentRound = knownRound == moverRound
if isSlot then
  isChecked = true
  if knownRound < moverRound then phase, isPresentRound = 'before', true end
end
local function nextNumber(mover, field)
  if not isSlot then return mover .. '.' .. redis.call('HINCRBY', state, field, 1) end
  local time = redis.call('TIME')
  return mover .. '.' .. time[1] .. '.' .. time[2]
end
local function countStep(field) return isSlot and 1 or redis.call('HINCRBY', state, field, 1) end
local function note(field, number)
  if isSlot then return end
  if tonumber(number) > tonumber(redis.call('HGET', state, field) or 0) then redis.call('HSET', state, field, number) end
end
local function staleReply() return { STALE, unpack(answer()) } end
local keys = ARGV[4] ~= '' and cmsgpack.unpack(ARGV[4]) or {}
for i = 3, #KEYS do keys[i - 2] = KEYS[i] end
local CHUNK = 1000
local function readList(name)
  local entries = {}
  for i = 1, #keys, CHUNK do
    local texts = redis.call('HMGET', name or list, unpack(keys, i, math.min(i + CHUNK - 1, #keys)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, addedCount, removed, removedCount = {}, 0, {}, 0
local function addEntry(key, text)
  added[addedCount + 1], added[addedCount + 2] = key, text
  addedCount = addedCount + 2
end
local function removeEntry(key)
  removedCount = removedCount + 1
  removed[removedCount] = key
end
local FLAT, LONG = 16, string.rep(' ', 1000)
local function writeList()
  if addedCount > 2 * FLAT then redis.call('HSET', list, added[1], LONG) end
  for i = 1, addedCount, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, addedCount)))
  end
  for i = 1, removedCount, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, removedCount)))
  end
end
local letters, letterCount = {}, 0
local function addLetter(letter)
  letterCount = letterCount + 1
  letters[letterCount] = letter
end
local function allLetters() return table.concat(letters) end
local isTaking = phase ~= 'other' and phase ~= 'earlier' and phase ~= 'stopping' and phase ~= 'returning' and phase ~= 'aborted'
if isBack then isTaking = phase == 'stopping' or phase == 'returning' end
if not isTaking or not isChecked or not isPresentRound then return staleReply() end
local function hasNoKey()
  for i = 1, #keys, CHUNK do
    if redis.call('EXISTS', unpack(keys, i, math.min(i + CHUNK - 1, #keys))) > 0 then return false end
  end
  return true
end
local function claimOf(entry)
  if not entry then return nil end
  return string.match(entry, '^(%S+) (.*)$')
end
local function beginsWith(entry, text) return entry and string.sub(entry, 1, #text) == text end
local SHORT = 40
local function plainDigest(value) return #value <= SHORT and '=' .. value or 's' .. redis.sha1hex(value) end
local function isCopy(key, digest)
  if not digest or digest == '' then return false end
  if not string.find(digest, '^[=s]') then return digest == redis.sha1hex(redis.call('DUMP', key)) end
  local value = redis.call('MGET', key)[1]
  return value and redis.call('PTTL', key) < 0 and plainDigest(value) == digest
end
local number, lastError = ARGV[5], ''
local isEmpty, entries = hasNoKey(), readList()
local free, used = number .. ' ', number .. '! '
local expiries = {}
for row, expiry in string.gmatch(ARGV[7], '(%d+) (%d+)') do expiries[tonumber(row)] = expiry end
local plain, plainCount = {}, 0
local function writePlain()
  for i = 1, plainCount, 2 * CHUNK do
    local last = math.min(i + 2 * CHUNK - 1, plainCount)
    local reply = redis.pcall('MSET', unpack(plain, i, last))
    if reply['err'] then
      lastError = reply['err'] .. ' (' .. plain[i] .. ')'
    else
      for j = i, last, 2 do addEntry(plain[j], used .. plainDigest(plain[j + 1])) end
    end
  end
end
local function mayWrite(i, key)
  local isFree, digest = entries[i] == free, nil
  if not isFree then
    local claim
    claim, digest = claimOf(entries[i])
    isFree = claim == number
  end
  if not isFree then
    addLetter('l')
    return false
  end
  if isEmpty or redis.call('EXISTS', key) == 0 or isCopy(key, digest) then return true end
  removeEntry(key)
  addLetter('t')
  return false
end
local function putValue(i, key, value)
  if type(value) == 'string' then
    plain[plainCount + 1], plain[plainCount + 2] = key, value
    plainCount = plainCount + 2
    return addLetter('c')
  end
  local reply = redis.pcall('RESTORE', key, expiries[i] or 0, value[1], 'REPLACE', 'ABSTTL')
  if reply['err'] then
    lastError = reply['err'] .. ' (' .. key .. ')'
    return addLetter('e')
  end
  local copy = redis.call('DUMP', key)
  addEntry(key, used .. (copy and redis.sha1hex(copy) or ''))
  addLetter('c')
end
local i, offset = 0, 0
while offset >= 0 and i < #keys do
  local block
  offset, block = cmsgpack.unpack_one(ARGV[6], offset)
  for row = 1, #block do
    i = i + 1
    if mayWrite(i, keys[i]) then putValue(i, keys[i], block[row]) end
  end
end
writePlain()
writeList()
return { allLetters(), lastError, countStep('puts') }`;

/** SETTLE: removes keys from the list of the target. See scripts/move/settle-keys.lua. */
export const SETTLE_KEYS = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
local STALE = 'stale'
local list, isBack = KEYS[2], ARGV[2] == 'back'
local isSlot = string.find(state, '{', 1, true) ~= nil
local moverRound = tonumber(ARGV[3])
local isPresentRound = knownRound == moverRound
if isSlot then
  isChecked = true
  if knownRound < moverRound then phase, isPresentRound = 'before', true end
end
local function nextNumber(mover, field)
  if not isSlot then return mover .. '.' .. redis.call('HINCRBY', state, field, 1) end
  local time = redis.call('TIME')
  return mover .. '.' .. time[1] .. '.' .. time[2]
end
local function countStep(field) return isSlot and 1 or redis.call('HINCRBY', state, field, 1) end
local function note(field, number)
  if isSlot then return end
  if tonumber(number) > tonumber(redis.call('HGET', state, field) or 0) then redis.call('HSET', state, field, number) end
end
local function staleReply() return { STALE, unpack(answer()) } end
local keys = ARGV[4] ~= '' and cmsgpack.unpack(ARGV[4]) or {}
for i = 3, #KEYS do keys[i - 2] = KEYS[i] end
local CHUNK = 1000
local function readList(name)
  local entries = {}
  for i = 1, #keys, CHUNK do
    local texts = redis.call('HMGET', name or list, unpack(keys, i, math.min(i + CHUNK - 1, #keys)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, addedCount, removed, removedCount = {}, 0, {}, 0
local function addEntry(key, text)
  added[addedCount + 1], added[addedCount + 2] = key, text
  addedCount = addedCount + 2
end
local function removeEntry(key)
  removedCount = removedCount + 1
  removed[removedCount] = key
end
local FLAT, LONG = 16, string.rep(' ', 1000)
local function writeList()
  if addedCount > 2 * FLAT then redis.call('HSET', list, added[1], LONG) end
  for i = 1, addedCount, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, addedCount)))
  end
  for i = 1, removedCount, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, removedCount)))
  end
end
local letters, letterCount = {}, 0
local function addLetter(letter)
  letterCount = letterCount + 1
  letters[letterCount] = letter
end
local function allLetters() return table.concat(letters) end
local isTaking = phase ~= 'other' and phase ~= 'earlier' and phase ~= 'stopping' and phase ~= 'returning' and phase ~= 'aborted'
if isBack then isTaking = phase == 'stopping' or phase == 'returning' end
if not isTaking or not isChecked or not isPresentRound then return staleReply() end
local function hasNoKey()
  for i = 1, #keys, CHUNK do
    if redis.call('EXISTS', unpack(keys, i, math.min(i + CHUNK - 1, #keys))) > 0 then return false end
  end
  return true
end
local function claimOf(entry)
  if not entry then return nil end
  return string.match(entry, '^(%S+) (.*)$')
end
local function beginsWith(entry, text) return entry and string.sub(entry, 1, #text) == text end
local SHORT = 40
local function plainDigest(value) return #value <= SHORT and '=' .. value or 's' .. redis.sha1hex(value) end
local function isCopy(key, digest)
  if not digest or digest == '' then return false end
  if not string.find(digest, '^[=s]') then return digest == redis.sha1hex(redis.call('DUMP', key)) end
  local value = redis.call('MGET', key)[1]
  return value and redis.call('PTTL', key) < 0 and plainDigest(value) == digest
end
redis.call('HDEL', KEYS[1], '')
local free, used, entries = ARGV[5] .. ' ', ARGV[5] .. '! ', readList()
local isAllKept = ARGV[6] == ''
for i = 1, #keys do
  local key, entry = keys[i], entries[i]
  if beginsWith(entry, used) or beginsWith(entry, free) then
    if not isAllKept and string.sub(ARGV[6], i, i) == 'd' and redis.call('EXISTS', key) == 1 then
      local _, digest = claimOf(entry)
      if isCopy(key, digest) then redis.call('UNLINK', key) end
    end
    removeEntry(key)
    addLetter('s')
  else
    addLetter('l')
  end
end
writeList()
note('drop:' .. ARGV[7], ARGV[8])
return { allLetters() }`;

/** TAKE: reads keys on the source, and lists them with a new take number. See scripts/move/take-keys.lua. */
export const TAKE_KEYS = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
local STALE = 'stale'
local list, isBack = KEYS[2], ARGV[2] == 'back'
local isSlot = string.find(state, '{', 1, true) ~= nil
local moverRound = tonumber(ARGV[3])
local isPresentRound = knownRound == moverRound
if isSlot then
  isChecked = true
  if knownRound < moverRound then phase, isPresentRound = 'before', true end
end
local function nextNumber(mover, field)
  if not isSlot then return mover .. '.' .. redis.call('HINCRBY', state, field, 1) end
  local time = redis.call('TIME')
  return mover .. '.' .. time[1] .. '.' .. time[2]
end
local function countStep(field) return isSlot and 1 or redis.call('HINCRBY', state, field, 1) end
local function note(field, number)
  if isSlot then return end
  if tonumber(number) > tonumber(redis.call('HGET', state, field) or 0) then redis.call('HSET', state, field, number) end
end
local function staleReply() return { STALE, unpack(answer()) } end
local keys = ARGV[4] ~= '' and cmsgpack.unpack(ARGV[4]) or {}
for i = 3, #KEYS do keys[i - 2] = KEYS[i] end
local CHUNK = 1000
local function readList(name)
  local entries = {}
  for i = 1, #keys, CHUNK do
    local texts = redis.call('HMGET', name or list, unpack(keys, i, math.min(i + CHUNK - 1, #keys)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, addedCount, removed, removedCount = {}, 0, {}, 0
local function addEntry(key, text)
  added[addedCount + 1], added[addedCount + 2] = key, text
  addedCount = addedCount + 2
end
local function removeEntry(key)
  removedCount = removedCount + 1
  removed[removedCount] = key
end
local FLAT, LONG = 16, string.rep(' ', 1000)
local function writeList()
  if addedCount > 2 * FLAT then redis.call('HSET', list, added[1], LONG) end
  for i = 1, addedCount, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, addedCount)))
  end
  for i = 1, removedCount, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, removedCount)))
  end
end
local letters, letterCount = {}, 0
local function addLetter(letter)
  letterCount = letterCount + 1
  letters[letterCount] = letter
end
local function allLetters() return table.concat(letters) end
redis.call('HDEL', KEYS[1], '')
local isGiving = phase == 'moving' or phase == 'done'
if isBack then isGiving = phase == 'returning' end
if not isGiving or not isChecked or not isPresentRound then return staleReply() end
local expiryTolerance = 0
local function expiryOf(key)
  if expiryTolerance == 0 then
    local expiry = redis.pcall('PEXPIRETIME', key)
    if type(expiry) == 'number' then return expiry end
    expiryTolerance = 100
  end
  local ttl, now = redis.call('PTTL', key), redis.call('TIME')
  return ttl < 0 and ttl or now[1] * 1000 + math.floor(now[2] / 1000) + ttl
end
local keyspace = redis.call('INFO', 'keyspace')
local hasExpiries = not string.find(keyspace, 'expires=0') or string.find(keyspace, 'expires=[1-9]') ~= nil
local function readBlock(first, last)
  local values, expiries = redis.call('MGET', unpack(keys, first, last)), {}
  for row = 1, last - first + 1 do
    if hasExpiries or not values[row] then
      local key = keys[first + row - 1]
      local expiry = hasExpiries and expiryOf(key) or -1
      if not values[row] or expiry >= 0 then
        local dump = redis.call('DUMP', key)
        values[row] = dump and { dump }
        if dump and expiry >= 0 then expiries[row] = expiry end
      end
    end
  end
  return values, expiries
end
local LARGE = 65536
local number, most = nextNumber(ARGV[5], 'takings'), tonumber(ARGV[6])
local taken, bytes, length = 0, 0, tonumber(ARGV[7])
local blocks, digests, expiries = {}, {}, {}
local entries
local function takeBlock(first, last)
  local found, times = readBlock(first, last)
  local values, count, before = {}, 0, bytes
  for row = 1, last - first + 1 do
    local value, key = found[row], keys[first + row - 1]
    if bytes >= most then
      addLetter('l')
    elseif value then
      count, taken = count + 1, taken + 1
      values[count] = value
      bytes = bytes + (type(value) == 'string' and #value or #value[1])
      if times[row] then expiries[#expiries + 1] = string.format('%d %.0f', taken, times[row]) end
      addEntry(key, number)
      addLetter('t')
    else
      entries = entries or readList()
      if entries[first + row - 1] then addEntry(key, number) end
      addLetter(entries[first + row - 1] and 'o' or 'a')
    end
  end
  if bytes - before > LARGE then length = 1 end
  if count == 0 then return end
  local block = cmsgpack.pack(values)
  blocks[#blocks + 1], digests[#digests + 1] = block, count .. ' ' .. redis.sha1hex(block)
end
local first = 1
while first <= #keys do
  if bytes >= most then
    addLetter('l')
    first = first + 1
  else
    local last = math.min(first + length - 1, #keys)
    takeBlock(first, last)
    first = last + 1
  end
end
writeList()
return {
  number,
  allLetters(),
  table.concat(blocks),
  table.concat(digests, '\\n'),
  table.concat(expiries, '\\n'),
  bytes,
}`;

/** Removes keys from a list, if their entries are the ones that were read. See scripts/move/unlist-keys.lua. */
export const UNLIST_KEYS = `
local removed = 0
for i = 2, #KEYS do
  if redis.call('HGET', KEYS[1], KEYS[i]) == ARGV[i - 1] then removed = removed + redis.call('HDEL', KEYS[1], KEYS[i]) end
end
return { removed }`;

/** Begins an announced resharding, if no process uses the old node any more. See scripts/reshard/begin-reshard.lua. */
export const BEGIN_RESHARD = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
redis.call('HDEL', KEYS[1], '')
local alive, dead = 0, 0
if phase == 'preparing' and knownRound == tonumber(ARGV[3]) then
  alive, dead = countProcesses('member:', tonumber(ARGV[2]))
  if alive == 0 then
    redis.call('HSET', state, 'phase', 'moving')
    redis.call('HDEL', state, 'since')
    phase = 'moving'
  else
    redis.call('HSET', state, 'since', clock)
  end
end
return { phase, about or '', alive, dead, knownRound }`;

/** Takes the announcement of a resharding back. See scripts/reshard/cancel-reshard.lua. */
export const CANCEL_RESHARD = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
redis.call('HDEL', KEYS[1], '')
if phase == 'preparing' and knownRound == tonumber(ARGV[2]) then redis.call('HSET', state, 'phase', 'cancelled') end
return answer()`;

/** Records that the hash of a node has been compared with the other nodes and is complete. See scripts/reshard/check-state.lua. */
export const CHECK_STATE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
redis.call('HDEL', KEYS[1], '')
if server == ARGV[2] then
  redis.call('HSET', state, 'server', server)
  for i, field in ipairs({ 'puts', 'drops' }) do
    local least = tonumber(ARGV[i + 2])
    if tonumber(redis.call('HGET', state, field) or 0) < least then redis.call('HSET', state, field, ARGV[i + 2]) end
  end
  isChecked = true
end
return answer()`;

/** Ends the return of keys from slots of a Redis Cluster. See scripts/reshard/close-slots.lua. */
export const CLOSE_SLOTS = `
local function close(name)
  if redis.call('HGET', name, 'round') == ARGV[1] then redis.call('DEL', name) end
end
for _, name in ipairs(KEYS) do close(name) end
for i = 2, #ARGV do close(ARGV[i]) end
return {}`;

/** Finds keys of resharding in many slots of one master of a Redis Cluster. See scripts/reshard/find-slots.lua. */
export const FIND_SLOTS = `
local found = {}
for i, name in ipairs(ARGV) do
  if redis.call('EXISTS', name) == 1 then found[#found + 1] = i end
end
return found`;

/** Records that all keys have been moved, or that all keys are back at their old owners. See scripts/reshard/finish-reshard.lua. */
export const FINISH_RESHARD = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
redis.call('HDEL', KEYS[1], '')
local last = ARGV[2] == 'done' and 'moving' or 'returning'
if phase == last and isChecked and knownRound == tonumber(ARGV[3]) then redis.call('HSET', state, 'phase', ARGV[2]) end
return answer()`;

/** Measures the memory that keys use. See scripts/reshard/measure-keys.lua. */
export const MEASURE_KEYS = `
local sizes = {}
for i, key in ipairs(KEYS) do sizes[i] = redis.call('MEMORY', 'USAGE', key) or 0 end
return sizes`;

/** Notes the number of a step on another node in the state of a Redis Cluster, whose slots note nothing. See scripts/reshard/note-step.lua. */
export const NOTE_STEP = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
redis.call('HDEL', KEYS[1], '')
local isOurs = storedId == reshardId and knownRound == tonumber(ARGV[2])
if isOurs and tonumber(ARGV[4]) > tonumber(redis.call('HGET', state, ARGV[3]) or 0) then
  redis.call('HSET', state, ARGV[3], ARGV[4])
end
return answer()`;

/** Lets keys go back from slots of a Redis Cluster. See scripts/reshard/open-slots.lua. */
export const OPEN_SLOTS = `
local function open(name)
  if tonumber(redis.call('HGET', name, 'round') or 0) > tonumber(ARGV[2]) then return end
  redis.call('HSET', name, 'move', ARGV[1], 'phase', 'returning', 'round', ARGV[2], 'about', ARGV[3])
end
redis.call('HDEL', KEYS[1] or ARGV[4], '')
for _, name in ipairs(KEYS) do open(name) end
for i = 4, #ARGV do open(ARGV[i]) end
return {}`;

/** Announces a resharding, unless it has begun in this round. See scripts/reshard/prepare-reshard.lua. */
export const PREPARE_RESHARD = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
redis.call('HDEL', KEYS[1], '')
if server ~= ARGV[6] then return { 'restarted', about or '', 0 } end
if phase == 'other' or phase == 'earlier' then return answer() end
local given = tonumber(ARGV[3])
local isUsed = phase == 'aborted' or redis.call('HGET', state, 'move') ~= reshardId
if given < knownRound or (given == knownRound and isUsed) then return { 'outdated', about or '', 0 } end
if given > knownRound or phase == 'before' or phase == 'misfit' or phase == 'preparing' then
  if given > knownRound or phase ~= 'preparing' then
    local fields = redis.call('HKEYS', state)
    for _, field in ipairs(fields) do
      if field == 'puts' or field == 'drops' or string.find(field, '^put:') or string.find(field, '^drop:') then
        redis.call('HDEL', state, field)
      end
    end
  end
  if phase ~= 'preparing' then redis.call('HSET', state, 'was', storedPhase and storedId .. ' ' .. storedPhase or '') end
  if storedPhase and storedId ~= reshardId and not isTakenBack then redis.call('HSET', state, 'ended', knownRound) end
  phase, isChecked = ARGV[7] == 'begun' and 'moving' or 'preparing', true
  redis.call('HSET', state, 'move', reshardId, 'phase', phase, 'since', clock, 'about', ARGV[2], 'round', ARGV[3],
    'settings', ARGV[4], 'server', server)
  if phase == 'moving' then redis.call('HDEL', state, 'since') end
end
redis.call('HSET', state, 'gone', ARGV[5])
return answer()`;

/** Tries every command that resharding needs, in a way that leaves nothing behind. See scripts/reshard/probe-commands.lua. */
export const PROBE_COMMANDS = `
local state, absent = KEYS[1], KEYS[2]
local refused = {}
local function try(...)
  local reply = redis.pcall(...)
  local message = type(reply) == 'table' and reply['err'] or ''
  if string.find(message, 'NOPERM', 1, true) or string.find(message, "can't run this command", 1, true) then
    refused[#refused + 1] = (...)
  end
end
try('HDEL', state, '')
if #refused == 0 then
  try('HSETNX', state, '', '')
  try('HSET', state, '', '')
  try('HDEL', state, '')
end
try('HMGET', state, '')
try('HGET', state, '')
try('HGETALL', absent)
try('HKEYS', absent)
try('HEXISTS', state, '')
try('HINCRBY', absent, '', 'x')
try('RESTORE', absent, 0, '')
try('DUMP', absent)
try('EXISTS', absent)
try('PTTL', absent)
try('UNLINK', absent)
local known = #refused
try('DEL', absent)
if #refused == known then
  try('MSET', absent, '')
  try('DEL', absent)
end
try('MGET', absent)
try('TYPE', absent)
try('MEMORY', 'USAGE', absent)
try('TIME')
try('INFO', 'replication')
return refused`;

/** Writes the name of a node on its server, unless a name is there. See scripts/reshard/probe-server.lua. */
export const PROBE_SERVER = `
redis.call('HDEL', KEYS[1], '')
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return { redis.call('HGET', KEYS[1], ARGV[1]) }`;

/** Reads everything that a node knows of resharding. See scripts/reshard/read-state.lua. */
export const READ_STATE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
return { phase, about or '', isChecked and 1 or 0, server, redis.call('HGETALL', state) }`;

/** Signs a process off from a node that it no longer uses. See scripts/reshard/sign-off.lua. */
export const SIGN_OFF = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
redis.call('HDEL', KEYS[1], '')
redis.call('HDEL', state, ARGV[3] .. ARGV[2])
return answer()`;

/** Signs a process on at a node that it uses as an old or a new owner, or renews its heartbeat. See scripts/reshard/sign-on.lua. */
export const SIGN_ON = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
redis.call('HDEL', KEYS[1], '')
local field = ARGV[3] .. ARGV[2]
local isOpen
if ARGV[3] == 'member:' then
  isOpen = phase == 'before' or phase == 'returning' or phase == 'aborted'
else
  isOpen = phase == 'before' or phase == 'misfit' or phase == 'preparing' or phase == 'moving'
end
if isChecked and (isOpen or redis.call('HEXISTS', state, field) == 1) then redis.call('HSET', state, field, clock) end
return answer()`;

/** Gives a resharding up on a node. See scripts/reshard/stop-reshard.lua. */
export const STOP_RESHARD = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local ANNOUNCEMENT_TIMEOUT = 3000
local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local function isEarlierVersion() return storedId and #storedId == 32 and string.find(storedId, '^%x+$') ~= nil end
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked and not isEarlierVersion())
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase and isEarlierVersion() then
  if storedPhase ~= 'done' then phase = 'earlier' end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
redis.call('HDEL', KEYS[1], '')
local alive, dead = 0, 0
local given = tonumber(ARGV[4])
local isOurs = phase ~= 'other' and phase ~= 'earlier'
local hasNotBegun = phase == 'before' or phase == 'misfit'
if isOurs and (knownRound < given or knownRound == given and hasNotBegun) then
  redis.call('HSET', state, 'move', reshardId, 'about', ARGV[3], 'round', ARGV[4], 'server', server)
  phase = 'stopping'
end
if (phase == 'preparing' or phase == 'moving') and knownRound == given then phase = 'stopping' end
if phase == 'stopping' then
  alive, dead = countProcesses('user:', tonumber(ARGV[2]))
  if alive == 0 then phase = 'returning' end
  redis.call('HSET', state, 'phase', phase)
end
if ARGV[5] ~= '' and isOurs then redis.call('HSET', state, 'gone', ARGV[5]) end
return { phase, about or '', alive, dead }`;

/** Reads the marker of the store's schema. See scripts/schema/read-schema.lua. */
export const READ_SCHEMA = `
return redis.call('GET', KEYS[1])`;

/** Marks a store that has no marker of its schema. See scripts/schema/write-schema.lua. */
export const WRITE_SCHEMA = `
return redis.call('SETNX', KEYS[1], ARGV[1])`;

/** Moves the `next` of a sequence forward, if it is within limits and the definition is the expected one. See scripts/sequence/advance-sequence.lua. */
export const ADVANCE_SEQUENCE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local FORGETFUL = 'forgetful'
local VOUCHED = 'vouched'
local FORGOTTEN = 'forgotten'
local UNMARKED = '0'
local trust = ARGV[1]
local definition, next, writer, mark = unpack(redis.call('HMGET', KEYS[1], 'definition', 'next', 'server', 'mark'))
if not definition then return '' end
if trust == FORGETFUL and writer ~= server then return FORGOTTEN end
if trust == VOUCHED and ARGV[6] ~= server then return FORGOTTEN end
if ARGV[4] ~= '' and (mark or UNMARKED) ~= ARGV[4] then return '' end
local function writeMark()
  if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'mark', ARGV[5]) end
  if trust == VOUCHED then redis.call('HSET', KEYS[1], 'server', server) end
end
local function isLess(a, b)
  local isNegative = string.sub(a, 1, 1) == '-'
  if isNegative ~= (string.sub(b, 1, 1) == '-') then return isNegative end
  if isNegative then a, b = b, a end
  if #a ~= #b then return #a < #b end
  return a < b
end
if definition ~= ARGV[2] or isLess(next, ARGV[7]) or isLess(ARGV[8], next) then return '' end
redis.call('HINCRBY', KEYS[1], 'next', ARGV[9])
if definition ~= ARGV[3] then redis.call('HSET', KEYS[1], 'definition', ARGV[3]) end
writeMark()
return next`;

/** Deletes the row of a sequence, if its generation is the expected one. See scripts/sequence/delete-sequence.lua. */
export const DELETE_SEQUENCE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local definition = redis.call('HGET', KEYS[1], 'definition')
if not definition or string.match(definition, '"generation":(%d+)') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/** Writes the row of a new sequence, unless there is one. See scripts/sequence/insert-sequence.lua. */
export const INSERT_SEQUENCE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local definition = redis.call('HGET', KEYS[1], 'definition')
if definition then return definition end
redis.call('HSET', KEYS[1], 'definition', ARGV[1], 'next', ARGV[2], 'server', server)
return ''`;

/** Lists the register of sequences. See scripts/sequence/list-sequences.lua. */
export const LIST_SEQUENCES = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
return redis.call('SMEMBERS', KEYS[1])`;

/** Reads the row of a sequence. See scripts/sequence/read-sequence.lua. */
export const READ_SEQUENCE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local row = redis.call('HMGET', KEYS[1], 'definition', 'next', 'mark')
return { row[1], row[2], row[3], server }`;

/** Adds an entry to the register of sequences. See scripts/sequence/register-sequence.lua. */
export const REGISTER_SEQUENCE = `
return redis.call('SADD', KEYS[1], ARGV[1])`;

/** Replaces the row of a sequence, if the stored one is the expected one. See scripts/sequence/swap-sequence.lua. */
export const SWAP_SEQUENCE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
local FORGETFUL = 'forgetful'
local VOUCHED = 'vouched'
local FORGOTTEN = 'forgotten'
local UNMARKED = '0'
local trust = ARGV[1]
local definition, next, writer, mark = unpack(redis.call('HMGET', KEYS[1], 'definition', 'next', 'server', 'mark'))
if not definition then return '' end
if trust == FORGETFUL and writer ~= server then return FORGOTTEN end
if trust == VOUCHED and ARGV[6] ~= server then return FORGOTTEN end
if ARGV[4] ~= '' and (mark or UNMARKED) ~= ARGV[4] then return '' end
local function writeMark()
  if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'mark', ARGV[5]) end
  if trust == VOUCHED then redis.call('HSET', KEYS[1], 'server', server) end
end
if definition ~= ARGV[2] or next ~= ARGV[7] then return '' end
redis.call('HSET', KEYS[1], 'definition', ARGV[3], 'next', ARGV[8])
writeMark()
return next`;

/** Removes an entry from the register of sequences. See scripts/sequence/unregister-sequence.lua. */
export const UNREGISTER_SEQUENCE = `
return redis.call('SREM', KEYS[1], ARGV[1])`;
