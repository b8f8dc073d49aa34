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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
if isSlot then isChecked = true end
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
local CHUNK = 1000
local function readList()
  local entries = {}
  for i = 3, #KEYS, CHUNK do
    local texts = redis.call('HMGET', list, unpack(KEYS, i, math.min(i + CHUNK - 1, #KEYS)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, removed = {}, {}
local function addEntry(key, text)
  added[#added + 1] = key
  added[#added + 1] = text
end
local function removeEntry(key) removed[#removed + 1] = key end
local function writeList()
  for i = 1, #added, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, #added)))
  end
  for i = 1, #removed, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, #removed)))
  end
end
local letters = {}
local function addLetter(letter) letters[#letters + 1] = letter end
local function allLetters() return table.concat(letters) end
local isTaking = phase ~= 'other' and phase ~= 'stopping' and phase ~= 'returning' and phase ~= 'aborted'
if isBack then isTaking = phase == 'stopping' or phase == 'returning' end
if not isTaking or not isChecked then return staleReply() end
local function hasNoKey()
  for i = 3, #KEYS, CHUNK do
    if redis.call('EXISTS', unpack(KEYS, i, math.min(i + CHUNK - 1, #KEYS))) > 0 then return false end
  end
  return true
end
local function claimOf(entry)
  if not entry then return nil end
  return string.match(entry, '^(%S+) (.*)$')
end
local function isCopy(key, digest)
  return digest and digest ~= '' and digest == redis.sha1hex(redis.call('DUMP', key))
end
local number = nextNumber(ARGV[3], 'claims')
local isEmpty = hasNoKey()
local entries = isEmpty and {} or readList()
for i = 3, #KEYS do
  local key = KEYS[i]
  if isBack and redis.call('HEXISTS', ARGV[4], key) == 1 then
    removeEntry(key)
    addLetter('t')
  elseif isEmpty or redis.call('EXISTS', key) == 0 then
    addEntry(key, number .. ' ')
    addLetter('f')
  else
    local _, digest = claimOf(entries[i])
    if isCopy(key, digest) then
      addEntry(key, number .. ' ' .. digest)
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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
if isSlot then isChecked = true end
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
local CHUNK = 1000
local function readList()
  local entries = {}
  for i = 3, #KEYS, CHUNK do
    local texts = redis.call('HMGET', list, unpack(KEYS, i, math.min(i + CHUNK - 1, #KEYS)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, removed = {}, {}
local function addEntry(key, text)
  added[#added + 1] = key
  added[#added + 1] = text
end
local function removeEntry(key) removed[#removed + 1] = key end
local function writeList()
  for i = 1, #added, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, #added)))
  end
  for i = 1, #removed, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, #removed)))
  end
end
local letters = {}
local function addLetter(letter) letters[#letters + 1] = letter end
local function allLetters() return table.concat(letters) end
redis.call('HDEL', KEYS[1], '')
local isGiving = phase == 'moving' or phase == 'done'
if isBack then isGiving = phase == 'returning' end
if not isGiving or not isChecked then return staleReply() end
local EXPIRY_TOLERANCE = 100
local number, entries = ARGV[3], readList()
local nextRow = string.gmatch(ARGV[4], '(%S+) (%S+)')
for i = 3, #KEYS do
  local key, digest, takenExpiry = KEYS[i], nextRow()
  local value = entries[i] == number and redis.call('DUMP', key)
  if entries[i] ~= number then
    addLetter('l')
  elseif not value then
    addLetter('o')
  else
    local ttl, expiry = redis.call('PTTL', key), tonumber(takenExpiry)
    local isSameExpiry = (ttl < 0 and expiry < 0)
      or (ttl >= 0 and expiry >= 0 and math.abs(clock + ttl - expiry) < EXPIRY_TOLERANCE)
    if isSameExpiry and redis.sha1hex(value) == digest then
      redis.call('UNLINK', key)
      removeEntry(key)
      addLetter('d')
    else
      addLetter('c')
    end
  end
end
writeList()
note('put:' .. ARGV[5], ARGV[6])
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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
if isSlot then isChecked = true end
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
local CHUNK = 1000
local function readList()
  local entries = {}
  for i = 3, #KEYS, CHUNK do
    local texts = redis.call('HMGET', list, unpack(KEYS, i, math.min(i + CHUNK - 1, #KEYS)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, removed = {}, {}
local function addEntry(key, text)
  added[#added + 1] = key
  added[#added + 1] = text
end
local function removeEntry(key) removed[#removed + 1] = key end
local function writeList()
  for i = 1, #added, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, #added)))
  end
  for i = 1, #removed, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, #removed)))
  end
end
local letters = {}
local function addLetter(letter) letters[#letters + 1] = letter end
local function allLetters() return table.concat(letters) end
redis.call('HDEL', KEYS[1], '')
local isGiving = phase == 'moving' or phase == 'done'
if isBack then isGiving = phase == 'returning' end
if not isGiving or not isChecked then return staleReply() end
local entries = readList()
for i = 3, #KEYS do
  addLetter((entries[i] or redis.call('EXISTS', KEYS[i]) == 1) and 'h' or 'a')
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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
if isSlot then isChecked = true end
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
local CHUNK = 1000
local function readList()
  local entries = {}
  for i = 3, #KEYS, CHUNK do
    local texts = redis.call('HMGET', list, unpack(KEYS, i, math.min(i + CHUNK - 1, #KEYS)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, removed = {}, {}
local function addEntry(key, text)
  added[#added + 1] = key
  added[#added + 1] = text
end
local function removeEntry(key) removed[#removed + 1] = key end
local function writeList()
  for i = 1, #added, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, #added)))
  end
  for i = 1, #removed, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, #removed)))
  end
end
local letters = {}
local function addLetter(letter) letters[#letters + 1] = letter end
local function allLetters() return table.concat(letters) end
redis.call('HDEL', KEYS[1], '')
local isGiving = phase == 'moving' or phase == 'done'
if isBack then isGiving = phase == 'returning' end
if not isGiving or not isChecked then return staleReply() end
local entries = readList()
for i = 3, #KEYS do
  if entries[i] == ARGV[3] then removeEntry(KEYS[i]) end
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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
if isSlot then isChecked = true end
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
local CHUNK = 1000
local function readList()
  local entries = {}
  for i = 3, #KEYS, CHUNK do
    local texts = redis.call('HMGET', list, unpack(KEYS, i, math.min(i + CHUNK - 1, #KEYS)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, removed = {}, {}
local function addEntry(key, text)
  added[#added + 1] = key
  added[#added + 1] = text
end
local function removeEntry(key) removed[#removed + 1] = key end
local function writeList()
  for i = 1, #added, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, #added)))
  end
  for i = 1, #removed, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, #removed)))
  end
end
local letters = {}
local function addLetter(letter) letters[#letters + 1] = letter end
local function allLetters() return table.concat(letters) end
local isTaking = phase ~= 'other' and phase ~= 'stopping' and phase ~= 'returning' and phase ~= 'aborted'
if isBack then isTaking = phase == 'stopping' or phase == 'returning' end
if not isTaking or not isChecked then return staleReply() end
local function hasNoKey()
  for i = 3, #KEYS, CHUNK do
    if redis.call('EXISTS', unpack(KEYS, i, math.min(i + CHUNK - 1, #KEYS))) > 0 then return false end
  end
  return true
end
local function claimOf(entry)
  if not entry then return nil end
  return string.match(entry, '^(%S+) (.*)$')
end
local function isCopy(key, digest)
  return digest and digest ~= '' and digest == redis.sha1hex(redis.call('DUMP', key))
end
local number, values, position, lastError = ARGV[3], ARGV[5], 1, ''
local isEmpty, entries = hasNoKey(), readList()
local nextRow = string.gmatch(ARGV[4], '(%d+) (%d+)')
for i = 3, #KEYS do
  local key, size, ttl = KEYS[i], nextRow()
  local value = string.sub(values, position, position + size - 1)
  position = position + size
  local claim, digest = claimOf(entries[i])
  if claim ~= number then
    addLetter('l')
  elseif not isEmpty and redis.call('EXISTS', key) == 1 and not isCopy(key, digest) then
    removeEntry(key)
    addLetter('t')
  else
    local reply = redis.pcall('RESTORE', key, ttl, value, 'REPLACE')
    if reply['err'] then
      lastError = reply['err'] .. ' (' .. key .. ')'
      addLetter('e')
    else
      local copy = redis.call('DUMP', key)
      addEntry(key, number .. '! ' .. (copy and redis.sha1hex(copy) or ''))
      addLetter('c')
    end
  end
end
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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
if isSlot then isChecked = true end
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
local CHUNK = 1000
local function readList()
  local entries = {}
  for i = 3, #KEYS, CHUNK do
    local texts = redis.call('HMGET', list, unpack(KEYS, i, math.min(i + CHUNK - 1, #KEYS)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, removed = {}, {}
local function addEntry(key, text)
  added[#added + 1] = key
  added[#added + 1] = text
end
local function removeEntry(key) removed[#removed + 1] = key end
local function writeList()
  for i = 1, #added, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, #added)))
  end
  for i = 1, #removed, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, #removed)))
  end
end
local letters = {}
local function addLetter(letter) letters[#letters + 1] = letter end
local function allLetters() return table.concat(letters) end
local isTaking = phase ~= 'other' and phase ~= 'stopping' and phase ~= 'returning' and phase ~= 'aborted'
if isBack then isTaking = phase == 'stopping' or phase == 'returning' end
if not isTaking or not isChecked then return staleReply() end
local function hasNoKey()
  for i = 3, #KEYS, CHUNK do
    if redis.call('EXISTS', unpack(KEYS, i, math.min(i + CHUNK - 1, #KEYS))) > 0 then return false end
  end
  return true
end
local function claimOf(entry)
  if not entry then return nil end
  return string.match(entry, '^(%S+) (.*)$')
end
local function isCopy(key, digest)
  return digest and digest ~= '' and digest == redis.sha1hex(redis.call('DUMP', key))
end
redis.call('HDEL', KEYS[1], '')
local number, entries = ARGV[3], readList()
for i = 3, #KEYS do
  local key, claim, digest = KEYS[i], claimOf(entries[i])
  if claim == number or claim == number .. '!' then
    local isDeleted = string.sub(ARGV[4], i - 2, i - 2) == 'd'
    if isDeleted and redis.call('EXISTS', key) == 1 and isCopy(key, digest) then redis.call('UNLINK', key) end
    removeEntry(key)
    addLetter('s')
  else
    addLetter('l')
  end
end
writeList()
note('drop:' .. ARGV[5], ARGV[6])
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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
if isSlot then isChecked = true end
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
local CHUNK = 1000
local function readList()
  local entries = {}
  for i = 3, #KEYS, CHUNK do
    local texts = redis.call('HMGET', list, unpack(KEYS, i, math.min(i + CHUNK - 1, #KEYS)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end
local added, removed = {}, {}
local function addEntry(key, text)
  added[#added + 1] = key
  added[#added + 1] = text
end
local function removeEntry(key) removed[#removed + 1] = key end
local function writeList()
  for i = 1, #added, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, #added)))
  end
  for i = 1, #removed, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, #removed)))
  end
end
local letters = {}
local function addLetter(letter) letters[#letters + 1] = letter end
local function allLetters() return table.concat(letters) end
redis.call('HDEL', KEYS[1], '')
local isGiving = phase == 'moving' or phase == 'done'
if isBack then isGiving = phase == 'returning' end
if not isGiving or not isChecked then return staleReply() end
local number = nextNumber(ARGV[3], 'takings')
local left = tonumber(ARGV[4])
local rows, values = {}, {}
for i = 3, #KEYS do
  local key = KEYS[i]
  if left <= 0 then
    addLetter('l')
  else
    local value = redis.call('DUMP', key)
    if value then
      local ttl = redis.call('PTTL', key)
      left = left - #value
      local expiry = ttl < 0 and '-1' or string.format('%.0f', clock + ttl)
      rows[#rows + 1] = #value .. ' ' .. ttl .. ' ' .. redis.sha1hex(value) .. ' ' .. expiry
      values[#values + 1] = value
      addEntry(key, number)
      addLetter('t')
    elseif redis.call('HEXISTS', list, key) == 1 then
      addEntry(key, number)
      addLetter('o')
    else
      addLetter('a')
    end
  end
end
writeList()
return { number, allLetters(), table.concat(rows, '\\n'), table.concat(values) }`;

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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
if phase == 'preparing' then
  alive, dead = countProcesses('member:', tonumber(ARGV[2]))
  if alive == 0 then
    redis.call('HSET', state, 'phase', 'moving')
    redis.call('HDEL', state, 'since')
    phase = 'moving'
  else
    redis.call('HSET', state, 'since', clock)
  end
end
return { phase, about or '', alive, dead }`;

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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
if phase == 'preparing' then redis.call('HSET', state, 'phase', 'cancelled') end
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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
if phase == last and isChecked then redis.call('HSET', state, 'phase', ARGV[2]) end
return answer()`;

/** Measures the memory that keys use. See scripts/reshard/measure-keys.lua. */
export const MEASURE_KEYS = `
local sizes = {}
for i, key in ipairs(KEYS) do sizes[i] = redis.call('MEMORY', 'USAGE', key) or 0 end
return sizes`;

/** Announces a resharding, unless it has begun. See scripts/reshard/prepare-reshard.lua. */
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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
if phase == 'before' or phase == 'misfit' or phase == 'preparing' or phase == 'aborted' then
  if phase ~= 'preparing' or round ~= ARGV[3] then
    local fields = redis.call('HKEYS', state)
    for _, field in ipairs(fields) do
      if field == 'puts' or field == 'drops' or string.find(field, '^put:') or string.find(field, '^drop:') then
        redis.call('HDEL', state, field)
      end
    end
  end
  if phase ~= 'preparing' then redis.call('HSET', state, 'was', storedPhase and storedId .. ' ' .. storedPhase or '') end
  redis.call('HSET', state, 'move', reshardId, 'phase', 'preparing', 'since', clock, 'about', ARGV[2], 'round', ARGV[3],
    'settings', ARGV[4], 'server', server)
  phase, isChecked = 'preparing', true
end
if phase ~= 'other' then redis.call('HSET', state, 'gone', ARGV[5]) end
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
try('DEL', absent)
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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
local isVoid = storedPhase == 'preparing' and (not isChecked or clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT)
if isVoid or storedPhase == 'cancelled' then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  phase = storedPhase
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'misfit' end
elseif storedPhase then
  phase = 'other'
end
local function answer() return { phase, about or '', isChecked and 1 or 0, tonumber(round or 0) } end
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
local given, known = tonumber(ARGV[4]), tonumber(round or 0)
if ((phase == 'before' or phase == 'misfit') and known <= given) or (phase == 'aborted' and known < given) then
  redis.call('HSET', state, 'move', reshardId, 'about', ARGV[3], 'round', ARGV[4], 'server', server)
  phase = 'stopping'
end
if (phase == 'preparing' or phase == 'moving') and known <= given then phase = 'stopping' end
if phase == 'stopping' then
  alive, dead = countProcesses('user:', tonumber(ARGV[2]))
  if alive == 0 then phase = 'returning' end
  redis.call('HSET', state, 'phase', phase)
end
if ARGV[5] ~= '' and phase ~= 'other' then redis.call('HSET', state, 'gone', ARGV[5]) end
return { phase, about or '', alive, dead }`;

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
