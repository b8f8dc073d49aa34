-- Writes or removes an entry of the registry.
--
-- KEYS[1]  the registry
-- ARGV[1]  the field of the entry
-- ARGV[2]  the expected entry; empty if there must be none, `*` for any
-- ARGV[3]  the next entry; empty to remove it
-- Returns  1 if the entry was written or removed, otherwise 0

--- @include "on-master"

if ARGV[2] ~= '*' and (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return 1
