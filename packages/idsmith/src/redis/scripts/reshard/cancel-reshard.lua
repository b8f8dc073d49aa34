-- Takes the announcement of a resharding back.
--
-- Returns  the phase before, and the description

--- @include "reshard-state"

if phase == 'preparing' then redis.call('HDEL', state, 'move', 'phase', 'since', 'about') end
return answer()
