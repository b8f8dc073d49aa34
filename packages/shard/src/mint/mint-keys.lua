-- Reserves keys: as many as are asked for, or fewer, because no key lies more than `lead` ahead of the clock.
--
-- A caller with proofs of the other nodes is `sure`. It reserves no millisecond beyond its bounds.
--
-- ARGV[8]   the number of nodes; this node mints in every millisecond ms with ms % nodes == index
-- ARGV[9]   the number of keys that are asked for
-- ARGV[10]  the first millisecond that may be used
-- ARGV[11]  `sure` or `unsure`
-- ARGV[12]  the last millisecond that may be used; only with `sure`
-- Returns   `keys`, from, now, ms, variant, count, ms until the rest is free, first variant, last variant; or
--           `wait`, from, now, ms to wait; or the status, if the sequence cannot mint

--- @include "node-sequence"
--- @const FRESH_FIRST
--- @const FRESH_LAST
--- @const HANDOVER_FIRST
--- @const HANDOVER_LAST
--- @const FRESH_UNSURE_FIRST
--- @const FRESH_UNSURE_LAST
--- @const HANDOVER_UNSURE_FIRST
--- @const HANDOVER_UNSURE_LAST

if sequence.ring ~= ring or sequence.state ~= 'open' or isLost or isMisplaced then return status() end
local own, size = tonumber(index), tonumber(ARGV[8])
local count, above = tonumber(ARGV[9]), tonumber(ARGV[10])
-- The first millisecond of this node at or after `ms`.
local function ownFrom(ms) return ms + (own - ms) % size end

-- The variants that the keys may use, and the last millisecond that they may carry.
local first, final, limit = HANDOVER_UNSURE_FIRST, HANDOVER_UNSURE_LAST, now + lead
local isFresh = sequence.generation == '1'
if isFresh then first, final = FRESH_UNSURE_FIRST, FRESH_UNSURE_LAST end
if ARGV[11] == 'sure' and tonumber(ARGV[12]) >= now then
  first, final, limit = HANDOVER_FIRST, HANDOVER_LAST, math.min(limit, tonumber(ARGV[12]))
  if isFresh then first, final = FRESH_FIRST, FRESH_LAST end
end

-- The first key.
local ms, variant = ownFrom(math.max(now, above)), first
local last, lastVariant = tonumber(sequence.ms), tonumber(sequence.variant)
if ms <= last then
  if lastVariant < final then ms, variant = last, math.max(lastVariant + 1, first) else ms = ownFrom(last + 1) end
end
local from = tonumber(sequence.from)
if ms > limit then return { 'wait', from, now, ms - limit } end

-- As many keys as fit up to the limit.
local width = final - first + 1
local granted = math.min(count, final + 1 - variant + math.floor((limit - ms) / size) * width)
local restIn = math.max(0, ms + math.floor((variant - first + count - 1) / width) * size - limit)
local offset = variant - first + granted - 1
sequence.ms = integerText(ms + math.floor(offset / width) * size)
sequence.variant = integerText(first + offset % width)
redis.call('HSET', key, 'ms', sequence.ms, 'variant', sequence.variant, 'index', index, 'sum', checksum())
return { 'keys', from, now, ms, variant, granted, restIn, first, final }
