-- Keeps a node for the node set that a handover is about to let mint. Until then, nobody mints there: not even processes of that
-- node set, which may have begun too early.
--
-- ARGV[8]  the generation of the handover
-- Returns  the status

--- @include "node-sequence"

local generation = tonumber(ARGV[8])
local isOurs = sequence.ring == ring and not isMisplaced and sequence.state ~= 'closed'
if not sequence.ring or (isOurs and tonumber(sequence.generation) < generation) then write('reserved', '', generation, high) end
return status()
