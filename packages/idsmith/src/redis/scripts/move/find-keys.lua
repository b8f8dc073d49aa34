-- Finds keys on the source.
--
-- Returns  for each key h(ere) if the source has the key, or a mover has taken it and not finished; otherwise a(bsent)

--- @include "on-source"

local entries = readList()
for i = 1, #keys do
  addLetter((entries[i] or redis.call('EXISTS', keys[i]) == 1) and 'h' or 'a')
end
return { allLetters() }
