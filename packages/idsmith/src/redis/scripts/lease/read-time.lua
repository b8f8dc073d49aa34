-- Reads the clock of this Redis.
--
-- KEYS[1]  any key, so that a Cluster always asks the same node
-- Returns  seconds since 1970, and microseconds

return redis.call('TIME')
