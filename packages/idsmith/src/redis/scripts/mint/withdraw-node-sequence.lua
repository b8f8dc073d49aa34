-- Deletes a pending sequence whose node set cannot begin.
--
-- Returns  the status

--- @include "node-sequence"

if sequence.ring == ring and not isMisplaced and sequence.state == 'pending' then
  redis.call('DEL', key)
  sequence = {}
end
return status()
