-- Reads the clock of this Redis, and its lineage.
--
-- KEYS[1]  the hash of a namespace, so that a Cluster asks the node of that hash
-- Returns  seconds since 1970, microseconds, and the replication id

--- @include "on-master"

local time = redis.call('TIME')
return { time[1], time[2], server }
