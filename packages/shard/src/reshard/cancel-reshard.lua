-- Takes the announcement of a resharding back.
--
-- ARGV[2]  the round
-- Returns  the phase before, the description, 1 if checked, the round

--- @include "reshard-state"

evenWhenFull()
if phase == 'preparing' and knownRound == tonumber(ARGV[2]) then redis.call('HSET', state, 'phase', 'cancelled') end
return answer()
