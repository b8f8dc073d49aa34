-- CLAIM: lists keys on the target with a new claim number.
--
-- ARGV[5]  the name of the mover
-- ARGV[6]  the hash of the other list of this node. A key on that list has left this node, or was about to, before the
--          resharding was given up. Its value here, or its absence, is the right one
-- Returns  the claim number; for each key `f`, `c` or `v`

--- @include "moving-keys"

if not mayTake() then return staleReply() end

local number = nextNumber(ARGV[5], 'claims')
local free = number .. ' '
local isEmpty = hasNoKey()
local entries = isEmpty and {} or readList()
local others = isBack and readList(ARGV[6]) or {}
for i = 1, #keys do
  local key = keys[i]
  if others[i] then
    removeEntry(key)
    addLetter('v')
  elseif isEmpty or redis.call('EXISTS', key) == 0 then
    addEntry(key, free)
    addLetter('f')
  else
    local _, digest = claimOf(entries[i])
    if isCopy(key, digest) then
      addEntry(key, free .. digest)
      addLetter('c')
    else
      removeEntry(key)
      addLetter('v')
    end
  end
end
writeList()
return { number, allLetters() }
