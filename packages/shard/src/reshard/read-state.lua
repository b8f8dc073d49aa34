-- Reads everything that a node knows of resharding.
--
-- Returns  the phase, the description, 1 if checked, the replication id of this server, all fields and values

--- @include "reshard-state"

return { phase, about or '', isChecked and 1 or 0, server, redis.call('HGETALL', state) }
