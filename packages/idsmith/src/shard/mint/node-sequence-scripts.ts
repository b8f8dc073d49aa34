import { ON_MASTER } from '../../redis/evaluate.js';
import { FRESH_VARIANTS, HANDOVER_VARIANTS, UNSURE_VARIANTS } from './variants.js';

// The sequence of a node is one hash at the Redis key `seqname`. The scripts call it the mark:
//
//   ring        the fingerprint of the node set that mints here; `nodes` holds the names of the nodes for people
//   state       pending: no key was minted yet · open: keys are minted · closed: handed over to the node set in `next`
//   generation  grows by one with each hand-over; 1 for a node set that began on empty nodes
//   server      the replication id of the Redis that wrote the hash
//   from        the millisecond beyond which the node set mints here
//   ms variant  the last key that was minted; `sum` is a checksum over all fields, which shows a reset by hand
//
// A node never mints a key more than `lead` ahead of its clock. The other nodes of its node set never mint more than `lead`
// ahead of the clock of this node. So everything that was minted lies before now + lead + skew, here and on nodes that
// this node does not know. The scripts rely on that when the hash is missing, or was written before a restart and may be
// out of date.

const PROLOGUE = `${ON_MASTER}
local key = KEYS[1]
local ring, nodes, epoch = ARGV[1], ARGV[2], tonumber(ARGV[3])
local lead, skew, seen = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000) - epoch
if now < 0 then return redis.error_reply('ERR the clock of this server is before the epoch') end

local kind = redis.call('TYPE', key)['ok']
if kind ~= 'hash' and kind ~= 'string' and kind ~= 'none' then
  return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a ' .. kind .. ', not a sequence')
end
local mark = {}
if kind == 'hash' then
  local flat = redis.call('HGETALL', key)
  for i = 1, #flat, 2 do mark[flat[i]] = flat[i + 1] end
  if not mark.ring and not mark.sum then
    return redis.error_reply('WRONGTYPE the key ' .. key .. ' holds a hash of somebody else, not a sequence')
  end
end

local function text(number) return string.format('%.0f', number) end
local function sumOf(m)
  local text = ''
  for _, field in ipairs({ 'ring', 'state', 'next', 'generation', 'server', 'from', 'ms', 'variant' }) do
    text = text .. (m[field] or '?') .. ' '
  end
  return redis.sha1hex(text)
end
if not mark.ring or mark.sum ~= sumOf(mark) then mark = {} end

-- Nothing to go by, or older than what the caller has seen, or from another life of the server.
local lost = not mark.ring or mark.server ~= server or tonumber(mark.ms) < seen
local high = tonumber(mark.ms or 0)
if lost then high = math.max(high, seen, now + lead + skew) end

-- A mark at the very end of the millisecond 'ms'.
local function write(state, next, generation, ms)
  high = ms
  mark = { ring = ring, state = state, next = next, generation = text(generation), server = server,
    from = text(ms), ms = text(ms), variant = '3843' }
  redis.call('DEL', key)
  redis.call('HSET', key, 'ring', ring, 'nodes', nodes, 'state', state, 'next', next, 'generation', mark.generation,
    'server', server, 'from', mark.from, 'ms', mark.ms, 'variant', '3843', 'sum', sumOf(mark))
end

local function status()
  local own = 'foreign'
  if not mark.ring then own = 'missing' elseif mark.ring == ring then own = 'own' end
  return { own, mark.state or '', mark.next or '', mark.nodes or '', tonumber(mark.generation or 0), high,
    lost and 1 or 0, mark.ring or '', now, tonumber(mark.from or 0) }
end
`;

/** Reads the status. */
export const READ_SEQUENCE = `${PROLOGUE}
return status()`;

/** Writes a pending sequence where there is none, which keeps other node sets out. */
export const PREPARE_SEQUENCE = `${PROLOGUE}
if not mark.ring then
  write('pending', '', tonumber(ARGV[7]), high)
  lost = false
end
return status()`;

/** Deletes a pending sequence whose node set cannot begin. */
export const WITHDRAW_SEQUENCE = `${PROLOGUE}
if mark.ring == ring and mark.state == 'pending' then
  redis.call('DEL', key)
  mark = {}
end
return status()`;

/** Starts minting where the sequence is pending or was lost, beyond `base` and beyond every key that may exist. */
export const OPEN_SEQUENCE = `${PROLOGUE}
if mark.ring == ring and (mark.state == 'pending' or (mark.state == 'open' and lost)) then
  write('open', '', tonumber(mark.generation), math.max(high, tonumber(ARGV[7])))
  lost = false
end
return status()`;

/**
 * Reserves the keys that are asked for, or fewer: no key lies more than `lead` ahead of the clock. A caller with proofs of
 * the other nodes reserves no millisecond beyond its bounds.
 */
export const MINT_KEYS = `${PROLOGUE}
if mark.ring ~= ring or mark.state ~= 'open' or lost then return status() end
local index, size = tonumber(ARGV[7]), tonumber(ARGV[8])
local count, above = tonumber(ARGV[9]), tonumber(ARGV[10])
local function inClass(x) return x + (index - x) % size end

local first, final, limit = ${UNSURE_VARIANTS.first}, ${UNSURE_VARIANTS.last}, now + lead
if ARGV[11] == 'sure' and tonumber(ARGV[12]) >= now then
  first, final, limit = ${FRESH_VARIANTS.first}, ${FRESH_VARIANTS.last}, math.min(limit, tonumber(ARGV[12]))
  if mark.generation ~= '1' then first, final = ${HANDOVER_VARIANTS.first}, ${HANDOVER_VARIANTS.last} end
end

local ms, variant = inClass(math.max(now, above)), first
local last, lastVariant = tonumber(mark.ms), tonumber(mark.variant)
if ms <= last then
  if lastVariant < final then ms, variant = last, math.max(lastVariant + 1, first) else ms = inClass(last + 1) end
end
local from = tonumber(mark.from)
if ms > limit then return { 'wait', from, now, ms - limit } end

local width = final - first + 1
local granted = math.min(count, final + 1 - variant + math.floor((limit - ms) / size) * width)
-- How long it takes until the rest would be free, too.
local more = math.max(0, ms + math.floor((variant - first + count - 1) / width) * size - limit)
local offset = variant - first + granted - 1
mark.ms, mark.variant = text(ms + math.floor(offset / width) * size), text(first + offset % width)
redis.call('HSET', key, 'ms', mark.ms, 'variant', mark.variant, 'sum', sumOf(mark))
return { 'keys', from, now, ms, variant, granted, more, first, final }`;

/** Ends minting for this node set. The next node set may begin beyond `high` of the reply. */
export const CLOSE_SEQUENCE = `${PROLOGUE}
local next, generation = ARGV[7], tonumber(ARGV[8])
local isOurs = not mark.ring or (mark.ring == ring and mark.state ~= 'closed') or mark.state == 'pending'
if isOurs and tonumber(mark.generation or 0) <= generation then
  write('closed', next, generation, high)
  lost = false
end
return status()`;

/** Starts minting for this node set beyond `base`, on a node where no other node set mints. */
export const ADOPT_SEQUENCE = `${PROLOGUE}
local base, generation = tonumber(ARGV[7]), tonumber(ARGV[8])
local isFree = not mark.ring or mark.state ~= 'open' or (mark.ring == ring and lost)
if isFree and (tonumber(mark.generation or 0) < generation or (mark.ring == ring and mark.state ~= 'closed')) then
  write('open', '', generation, math.max(high, base))
  lost = false
end
return status()`;
