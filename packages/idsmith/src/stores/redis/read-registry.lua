-- Reads an entry of the registry.
--
-- KEYS[1]  the registry
-- ARGV[1]  the field of the entry
-- Returns  the entry, or nil; 1 if a person has confirmed the registry in the present lineage, 0 for another one, nil for none

--- @include "on-master"

local entry, confirmed = unpack(redis.call('HMGET', KEYS[1], ARGV[1], 'confirmed'))
return { entry, confirmed and (confirmed == server and 1 or 0) }
