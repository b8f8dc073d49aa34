-- CLAIM: lists keys on the target with a new claim number.
--
-- ARGV[3]  the name of the mover
-- ARGV[4]  the hash of the other list of this node. A key on that list has left this node, or was about to, before the
--          resharding was given up. Its value here, or its absence, is the right one
-- Returns  the claim number; for each key f(ree), c(opy of a mover), or t(aken: the target has a value of its own)

--- @include "on-target"

local number = nextNumber(ARGV[3], 'claims')
local isEmpty = hasNoKey()
local entries = isEmpty and {} or readList()
for i = 3, #KEYS do
  local key = KEYS[i]
  if isBack and redis.call('HEXISTS', ARGV[4], key) == 1 then
    removeEntry(key)
    addLetter('t')
  elseif isEmpty or redis.call('EXISTS', key) == 0 then
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
