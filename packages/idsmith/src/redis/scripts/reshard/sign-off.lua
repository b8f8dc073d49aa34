-- Signs a process off from an old node, which the process no longer uses.
--
-- ARGV[2]  the id of the process
-- Returns  the phase, and the description

--- @include "reshard-state"

redis.call('HDEL', state, 'member:' .. ARGV[2])
return answer()
