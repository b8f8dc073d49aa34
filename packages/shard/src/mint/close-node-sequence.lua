-- Ends minting for this node set. The next node set may begin beyond `high` of the status.
--
-- ARGV[8]  the fingerprint of the next node set
-- ARGV[9]  the generation of this node set
-- Returns  the status

--- @include "node-sequence"

local next, generation = ARGV[8], tonumber(ARGV[9])
local isOurs = not sequence.ring or (sequence.ring == ring and sequence.state ~= 'closed') or sequence.state == 'pending'
if isOurs and not isMisplaced and tonumber(sequence.generation or 0) <= generation then write('closed', next, generation, high) end
return status()
