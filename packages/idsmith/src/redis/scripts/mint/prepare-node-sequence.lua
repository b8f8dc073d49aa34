-- Writes a pending sequence where there is none. A pending sequence keeps other node sets out.
--
-- ARGV[7]  the generation
-- Returns  the status

--- @include "node-sequence"

if not sequence.ring then write('pending', '', tonumber(ARGV[7]), high) end
return status()
