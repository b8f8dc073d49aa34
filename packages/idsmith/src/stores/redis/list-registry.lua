-- Lists the registry.
--
-- KEYS[1]  the registry, or the set of sequences of an earlier version
-- Returns  the fields of the registry, or the members of the set

--- @include "on-master"

local isSet = redis.call('TYPE', KEYS[1]).ok == 'set'
return redis.call(isSet and 'SMEMBERS' or 'HKEYS', KEYS[1])
