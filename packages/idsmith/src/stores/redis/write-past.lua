-- Writes the lineage in which the row of a sequence is known to be whole.
--
-- KEYS[1]  the hash of the sequence
-- ARGV[1]  the expected lineage; empty if there must be none
-- ARGV[2]  the next lineage
-- ARGV[3]  the lineage that this Redis must have; empty if it does not matter
-- Returns  1 if it was written, 0 if something differs, -1 if there is no row

--- @include "on-master"

local definition, past = unpack(redis.call('HMGET', KEYS[1], 'definition', 'server'))
if not definition then return -1 end
if (past or '') ~= ARGV[1] or (ARGV[3] ~= '' and ARGV[3] ~= server) then return 0 end
redis.call('HSET', KEYS[1], 'server', ARGV[2])
return 1
