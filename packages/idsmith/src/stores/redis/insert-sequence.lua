-- Writes the row of a new sequence, unless there is one. No number is taken from it before the field `server` is written.
--
-- KEYS[1]  the hash of the sequence
-- ARGV[1]  the definition
-- ARGV[2]  the first `next`
-- Returns  the definition that was there before; empty if the row was written

--- @include "on-master"

local definition = redis.call('HGET', KEYS[1], 'definition')
if definition then return definition end
redis.call('HSET', KEYS[1], 'definition', ARGV[1], 'next', ARGV[2])
return ''
