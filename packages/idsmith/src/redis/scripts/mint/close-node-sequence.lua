-- Ends minting for this node set. The next node set may begin beyond `high` of the status.
--
-- ARGV[7]  the fingerprint of the next node set
-- ARGV[8]  the generation of this node set
-- Returns  the status

--- @include "node-sequence"

local next, generation = ARGV[7], tonumber(ARGV[8])
local isOurs = not sequence.ring or (sequence.ring == ring and sequence.state ~= 'closed') or sequence.state == 'pending'
if isOurs and tonumber(sequence.generation or 0) <= generation then write('closed', next, generation, high) end
return status()
