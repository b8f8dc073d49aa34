-- Moves the `next` of a sequence forward, if it is within limits and the definition is the expected one.
--
-- ARGV[6]  the smallest `next` that may be moved
-- ARGV[7]  the largest `next` that may be moved
-- ARGV[8]  the distance, which may be negative
-- Returns  the `next` before the change; empty if the row is another one, or its lineage

--- @include "sequence-row"

-- Compares whole numbers as text, because Lua's numbers are doubles and cannot hold 64 bits. HINCRBY adds all 64 bits.
local function isLess(a, b)
  local isNegative = string.sub(a, 1, 1) == '-'
  if isNegative ~= (string.sub(b, 1, 1) == '-') then return isNegative end
  if isNegative then a, b = b, a end
  if #a ~= #b then return #a < #b end
  return a < b
end

if isLess(next, ARGV[6]) or isLess(ARGV[7], next) then return '' end
redis.call('HINCRBY', KEYS[1], 'next', ARGV[8])
if definition ~= ARGV[3] then redis.call('HSET', KEYS[1], 'definition', ARGV[3]) end
writeMark()
return next
