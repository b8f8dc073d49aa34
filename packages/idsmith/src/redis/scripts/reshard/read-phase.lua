-- Reads the phase of a resharding on a node.
--
-- Returns  the phase, and the description of the stored resharding

--- @include "reshard-state"

return answer()
