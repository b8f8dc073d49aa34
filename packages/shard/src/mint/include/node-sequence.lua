-- Reads the sequence of a node: one hash, which says what the node has minted.
--
--   ring        the fingerprint of the node set that mints here; `nodes` holds the names of its nodes for people
--   state       pending: no key was minted yet · reserved: a handover to the node set is under way · open: keys are minted ·
--               closed: handed over to the node set in `next`
--   generation  grows by one with each handover; 1 for a node set that began on empty nodes
--   server      the replication id of the Redis that wrote the hash
--   from        the millisecond beyond which the node set mints here
--   index       the index of this node in its node set; missing if an older version of idsmith wrote the hash
--   ms variant  the last key that was minted
--   sum         a checksum over all fields but `nodes` and `index`, which shows a reset by hand
--
-- A node never mints a key more than `lead` ahead of its clock. The other nodes of its node set never mint more than `lead`
-- ahead of the clock of this node. So everything that was minted lies before now + lead + skew, here and on nodes that this
-- node does not know. The scripts rely on that when the hash is missing, or was written before a restart and may be out of
-- date.
--
-- Times are milliseconds since the epoch of the map. Sets `sequence` (the fields; empty if there is no valid hash), `isLost`
-- (the hash may be out of date), `isMisplaced` (the node has another index in its node set than the caller thinks), `high` (no
-- key was minted beyond this millisecond) and `now`.
--
-- KEYS[1]  the hash
-- ARGV[1]  the fingerprint of the caller's node set
-- ARGV[2]  the names of its nodes, for people
-- ARGV[3]  the epoch of the map, ms since 1970
-- ARGV[4]  lead, ms
-- ARGV[5]  skew: the largest difference between two clocks, ms
-- ARGV[6]  the last millisecond that the caller got from this node
-- ARGV[7]  the index of this node in the caller's node set; with `check` behind it, the stored index must be the same

--- @include "on-master"
--- @include "clock"
--- @const LAST_VARIANT

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

-- Writes a sequence whose last key is the last variant of the millisecond `ms`.
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

-- The status: `own`, `foreign`, `misplaced` or `missing`; state; next; names of the nodes; generation; high; 1 if lost,
-- otherwise 0; fingerprint; now; from.
local function status()
  local owner = 'foreign'
  if sequence.ring == ring then owner = isMisplaced and 'misplaced' or 'own' end
  if not sequence.ring then owner = 'missing' end
  return { owner, sequence.state or '', sequence.next or '', sequence.nodes or '', tonumber(sequence.generation or 0), high,
    isLost and 1 or 0, sequence.ring or '', now, tonumber(sequence.from or 0) }
end
