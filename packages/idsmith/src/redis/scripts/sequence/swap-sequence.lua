-- Replaces the row of a sequence, if the stored one is the expected one.
--
-- ARGV[7]  the expected `next`
-- ARGV[8]  the new `next`
-- Returns  the `next` before the change; empty if the row is another one; FORGOTTEN if it is not trusted

--- @include "sequence-row"

if definition ~= ARGV[2] or next ~= ARGV[7] then return '' end
redis.call('HSET', KEYS[1], 'definition', ARGV[3], 'next', ARGV[8])
writeMark()
return next
