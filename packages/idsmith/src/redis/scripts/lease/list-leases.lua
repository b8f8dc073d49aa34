-- Lists the lease records of a namespace.
--
-- Returns  all values of the hash: the records, and the replication id in the field `server`

--- @include "lease-trust"

if isForgotten then return {} end
return redis.call('HVALS', KEYS[1])
