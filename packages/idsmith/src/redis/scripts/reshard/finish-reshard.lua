-- Records that all keys have been moved.
--
-- Returns  the phase before, and the description

--- @include "reshard-state"

if phase == 'moving' then redis.call('HSET', state, 'phase', 'done') end
return answer()
