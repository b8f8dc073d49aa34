-- SETTLE: removes keys from the list of their new owner.
--
-- ARGV[2]  the claim number
-- ARGV[3]  for each key d(elete the copy) or k(eep it)
-- Returns  for each key s(ettled), or l(ost: another mover has claimed the key)

--- @include "on-target"

local number, entries = ARGV[2], readList()
for i = 3, #KEYS do
  local key, claim, digest = KEYS[i], claimOf(entries[i])
  if claim == number or claim == number .. '!' then
    local isDeleted = string.sub(ARGV[3], i - 2, i - 2) == 'd'
    if isDeleted and redis.call('EXISTS', key) == 1 and isCopy(key, digest) then redis.call('UNLINK', key) end
    removeEntry(key)
    addLetter('s')
  else
    addLetter('l')
  end
end
writeList()
return { allLetters() }
