-- Begins an announced resharding, if no process uses the old node any more. Signs dead processes off.
--
-- ARGV[2]  the silence after which a process counts as dead, ms
-- ARGV[3]  the round
-- Returns  the phase, the description, the number of processes that use the old node, the number of dead processes, the round

--- @include "reshard-state"

evenWhenFull()
local alive, dead = 0, 0
if phase == 'preparing' and knownRound == tonumber(ARGV[3]) then
  alive, dead = countProcesses('member:', tonumber(ARGV[2]))
  if alive == 0 then
    redis.call('HSET', state, 'phase', 'moving')
    redis.call('HDEL', state, 'since')
    phase = 'moving'
  else
    redis.call('HSET', state, 'since', clock)
  end
end
return { phase, about or '', alive, dead, knownRound }
