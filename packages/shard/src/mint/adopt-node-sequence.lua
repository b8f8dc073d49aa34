-- Opens a sequence for the node set that takes over, where no other node set mints. If the node set minted here before the
-- handover, it goes on in the new generation, and beyond everything that either node set has minted.
--
-- ARGV[8]  a millisecond beyond which to mint
-- ARGV[9]  the generation of this node set
-- Returns  the status

--- @include "node-sequence"

local base, generation = tonumber(ARGV[8]), tonumber(ARGV[9])
local known = tonumber(sequence.generation or 0)
local isOwn = sequence.ring == ring and not isMisplaced
local isFree = isOwn or (sequence.state ~= 'open' and sequence.state ~= 'reserved')
local isInTime = known < generation or (isOwn and sequence.state ~= 'closed' and known == generation)
local isDone = isOwn and sequence.state == 'open' and not isLost and known == generation and high >= base
if isFree and isInTime and not isDone then write('open', '', generation, math.max(high, base)) end
return status()
