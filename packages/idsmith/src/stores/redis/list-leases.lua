-- Lists the lease records of a namespace.
--
-- KEYS[1]  the hash of the namespace: a field for each record, and further ones
-- Returns  all values of the hash

--- @include "on-master"

return redis.call('HVALS', KEYS[1])
