-- Signs a process on at an old node, or renews its heartbeat. After the announcement, no new process can sign on.
--
-- ARGV[2]  the id of the process
-- Returns  the phase, and the description

--- @include "reshard-state"

local member = 'member:' .. ARGV[2]
if phase == 'before' or redis.call('HEXISTS', state, member) == 1 then redis.call('HSET', state, member, clock) end
return answer()
