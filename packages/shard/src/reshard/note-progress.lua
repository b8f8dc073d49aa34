-- Notes the progress of a run in the state of a node, for people who ask the node.
--
-- ARGV[2]  the round
-- ARGV[3]  the progress, as JSON
-- Returns  the phase, the description, 1 if checked, the round

--- @include "reshard-state"

evenWhenFull()
if storedId == reshardId and knownRound == tonumber(ARGV[2]) then
  redis.call('HSET', state, 'progress', ARGV[2] .. ' ' .. string.format('%.0f', clock) .. ' ' .. ARGV[3])
end
return answer()
