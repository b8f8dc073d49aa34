-- Deletes a sequence that keeps others out, and whose node set cannot begin: a pending one, or one that a handover has reserved.
--
-- ARGV[8]  `pending` or `reserved`
-- Returns  the status

--- @include "node-sequence"

if sequence.ring == ring and not isMisplaced and sequence.state == ARGV[8] then
  redis.call('DEL', key)
  sequence = {}
end
return status()
