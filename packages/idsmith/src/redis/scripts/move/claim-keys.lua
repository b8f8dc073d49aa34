-- CLAIM: lists keys on their new owner with a new claim number.
--
-- ARGV[2]  the name of the mover
-- Returns  the claim number; for each key f(ree), c(opy of a mover), or t(aken: the new owner has a value of its own)

--- @include "on-target"

local number = ARGV[2] .. '.' .. redis.call('HINCRBY', state, 'claims', 1)
local isEmpty = hasNoKey()
local entries = isEmpty and {} or readList()
for i = 3, #KEYS do
  local key = KEYS[i]
  if isEmpty or redis.call('EXISTS', key) == 0 then
    addEntry(key, number .. ' ')
    addLetter('f')
  else
    local _, digest = claimOf(entries[i])
    if isCopy(key, digest) then
      addEntry(key, number .. ' ' .. digest)
      addLetter('c')
    else
      removeEntry(key)
      addLetter('t')
    end
  end
end
writeList()
return { number, allLetters() }
