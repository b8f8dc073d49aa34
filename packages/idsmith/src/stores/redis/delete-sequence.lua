-- Deletes the row of a sequence, if its generation is the expected one.
--
-- KEYS[1]  the hash of the sequence
-- ARGV[1]  the expected generation
-- Returns  1 if the row was deleted, otherwise 0

--- @include "on-master"

local definition = redis.call('HGET', KEYS[1], 'definition')
if not definition or string.match(definition, '"generation":(%d+)') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
