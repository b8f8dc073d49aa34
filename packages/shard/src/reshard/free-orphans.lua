-- Removes orphans from the list of the source, after their copies are gone.
--
-- ARGV[5]  the take number
-- Returns  an empty text

--- @include "moving-keys"

if not mayGive() then return staleReply() end
evenWhenFull()

local entries = readList()
for i = 1, #keys do
  if entries[i] == ARGV[5] then removeEntry(keys[i]) end
end
writeList()
return { '' }
