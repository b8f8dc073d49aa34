-- Reads an entry of the registry.
--
-- KEYS[1]  the registry
-- ARGV[1]  the field of the entry
-- Returns  the entry, or nil; 1 if a person has vouched for the registry in the present lineage, 0 for another one, nil for none

--- @include "on-master"

local entry, vouched = unpack(redis.call('HMGET', KEYS[1], ARGV[1], 'vouched'))
return { entry, vouched and (vouched == server and 1 or 0) }
