-- Sets `server`: the replication id of this Redis. Refuses to run on a replica.
--
-- A restart may lose the last writes. A failover may lose them, too, because the promoted replica may be behind. Redis takes
-- a new replication id on both occasions, and never uses an old one again. The run id does not show every failover: a master
-- that is demoted, synchronised with older data and promoted again keeps its run id. Replicas share the replication id of
-- their master, so this script checks the role as well.

local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication has no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica: connect to its master')
end
