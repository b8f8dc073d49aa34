-- Takes the announcement of a resharding back.
--
-- Returns  the phase before, the description, 1 if checked, the round

--- @include "reshard-state"
--- @include "even-when-full"

if phase == 'preparing' then redis.call('HSET', state, 'phase', 'cancelled') end
return answer()
