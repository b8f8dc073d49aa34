-- Opens a sequence that is pending or was lost. Keys are minted beyond ARGV[8], and beyond every key that may exist.
--
-- ARGV[8]  a millisecond beyond which to mint
-- Returns  the status

--- @include "node-sequence"

if sequence.ring == ring and not isMisplaced and (sequence.state == 'pending' or (sequence.state == 'open' and isLost)) then
  write('open', '', tonumber(sequence.generation), math.max(high, tonumber(ARGV[8])))
end
return status()
