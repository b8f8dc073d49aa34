-- Notes the number of a step on another node in the state of a Redis Cluster, whose slots note nothing.
--
-- ARGV[2]  the round
-- ARGV[3]  the field, like `drop:N`
-- ARGV[4]  the number of the step
-- Returns  the phase, the description, 1 if checked, the round

--- @include "reshard-state"

evenWhenFull()
local isOurs = storedId == reshardId and knownRound == tonumber(ARGV[2])
if isOurs and tonumber(ARGV[4]) > tonumber(redis.call('HGET', state, ARGV[3]) or 0) then
  redis.call('HSET', state, ARGV[3], ARGV[4])
end
return answer()
