-- Removes orphans from the list of their old owner, after their copies are gone.
--
-- ARGV[2]  the take number
-- Returns  an empty text

--- @include "on-source"

local entries = readList()
for i = 3, #KEYS do
  if entries[i] == ARGV[2] then removeEntry(KEYS[i]) end
end
writeList()
return { '' }
