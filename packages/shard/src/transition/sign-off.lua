-- Signs a process off from a node that it no longer uses.
--
-- ARGV[2]  the id of the process
-- ARGV[3]  `member:` or `user:`, as for signing on
-- Returns  the phase, the description, 1 if checked, the round

--- @include "reshard-state"

evenWhenFull()
redis.call('HDEL', state, ARGV[3] .. ARGV[2])
return answer()
