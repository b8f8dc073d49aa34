-- Finds keys on the source.
--
-- Returns  for each key `h` or `a`

--- @include "moving-keys"

if not mayGive() then return staleReply() end

local entries = readList()
for i = 1, #keys do
  addLetter((entries[i] or redis.call('EXISTS', keys[i]) == 1) and 'h' or 'a')
end
return { allLetters() }
