-- Opens a sequence for the node set that takes over, where no other node set mints.
--
-- ARGV[8]  a millisecond beyond which to mint
-- ARGV[9]  the generation of this node set
-- Returns  the status

--- @include "node-sequence"

local base, generation = tonumber(ARGV[8]), tonumber(ARGV[9])
local isFree = not sequence.ring or sequence.state ~= 'open' or (sequence.ring == ring and isLost)
local isNewer = tonumber(sequence.generation or 0) < generation
if isFree and (isNewer or (sequence.ring == ring and sequence.state ~= 'closed')) then
  write('open', '', generation, math.max(high, base))
end
return status()
