-- Lists the register of sequences.
--
-- KEYS[1]  the set of entries
-- Returns  all entries

--- @include "on-master"

return redis.call('SMEMBERS', KEYS[1])
