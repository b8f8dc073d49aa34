-- Announces a resharding, unless it has begun. A resharding that is done begins again at once.
--
-- ARGV[2]  a description for people
-- Returns  the phase, and the description of the resharding that was stored before

--- @include "reshard-state"

if phase == 'before' or phase == 'preparing' then
  redis.call('HSET', state, 'move', reshardId, 'phase', 'preparing', 'since', clock, 'about', ARGV[2])
  phase = 'preparing'
elseif phase == 'done' then
  redis.call('HSET', state, 'phase', 'moving')
  phase = 'moving'
end
return answer()
