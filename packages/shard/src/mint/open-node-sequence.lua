-- Opens a sequence that is pending or was lost, or that a handover has reserved and not reached. Keys are minted beyond ARGV[8],
-- and beyond every key that may exist.
--
-- ARGV[8]  a millisecond beyond which to mint
-- ARGV[9]  the latest generation of the node set on its other nodes
-- Returns  the status

--- @include "node-sequence"

local generation, known = tonumber(sequence.generation or 0), tonumber(ARGV[9])
local isReached = sequence.state == 'reserved' and generation <= known
local isUnused = sequence.state == 'pending' or isReached or (sequence.state == 'open' and isLost)
if sequence.ring == ring and not isMisplaced and isUnused then
  write('open', '', math.max(generation, known), math.max(high, tonumber(ARGV[8])))
end
return status()
