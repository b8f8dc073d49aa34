-- Writes a pending sequence where there is none. A pending sequence keeps other node sets out.
--
-- ARGV[8]  the generation
-- Returns  the status

--- @include "node-sequence"

if not sequence.ring then write('pending', '', tonumber(ARGV[8]), high) end
return status()
