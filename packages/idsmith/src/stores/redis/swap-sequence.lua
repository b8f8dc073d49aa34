-- Replaces the row of a sequence, if the stored one is the expected one.
--
-- ARGV[6]  the expected `next`
-- ARGV[7]  the new `next`
-- Returns  the `next` before the change; empty if the row is another one, or its lineage

--- @include "sequence-row"

if next ~= ARGV[6] then return '' end
redis.call('HSET', KEYS[1], 'definition', ARGV[3], 'next', ARGV[7])
writeMark()
return next
