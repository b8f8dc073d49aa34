-- Records that all keys have been moved, or that all keys are back at their old owners. Does nothing on a node that was started
-- again and has not been checked, and nothing in another round.
--
-- ARGV[2]  `done` after `moving`, or `aborted` after `returning`
-- ARGV[3]  the round
-- Returns  the phase before, the description, 1 if checked, the round

--- @include "reshard-state"

evenWhenFull()
local last = ARGV[2] == 'done' and 'moving' or 'returning'
if phase == last and isChecked and knownRound == tonumber(ARGV[3]) then redis.call('HSET', state, 'phase', ARGV[2]) end
return answer()
