-- Removes orphans from the list of the source, after their copies are gone.
--
-- ARGV[3]  the take number
-- Returns  an empty text

--- @include "on-source"

local entries = readList()
for i = 3, #KEYS do
  if entries[i] == ARGV[3] then removeEntry(KEYS[i]) end
end
writeList()
return { '' }
