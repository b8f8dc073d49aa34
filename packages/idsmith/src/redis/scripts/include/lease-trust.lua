-- Sets `isForgotten`: true if the leases were written by another server, or by this one before a restart, and are not
-- trusted. Such leases may be older than the ones that were acknowledged. The store drops them.
--
-- KEYS[1]  the hash of the namespace: the field `server`, and a field for each node id
-- ARGV[1]  `forgetful`, or `durable` if this Redis never loses an acknowledged write

--- @include "on-master"
--- @const FORGETFUL

local isForgotten = ARGV[1] == FORGETFUL and redis.call('HGET', KEYS[1], 'server') ~= server
