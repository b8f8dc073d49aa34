-- Reads the status of the sequence of a node.
--
-- Returns  the status

--- @include "node-sequence"

return status()
