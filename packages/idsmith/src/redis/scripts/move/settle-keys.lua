-- SETTLE: removes keys from the list of the target.
--
-- ARGV[3]  the claim number
-- ARGV[4]  for each key d(elete the copy) or k(eep it)
-- ARGV[5]  the name of the source
-- ARGV[6]  the number of the DROP there; 0 for none
-- Returns  for each key s(ettled), or l(ost: another mover has claimed the key)

--- @include "on-target"
--- @include "even-when-full"

local number, entries = ARGV[3], readList()
for i = 3, #KEYS do
  local key, claim, digest = KEYS[i], claimOf(entries[i])
  if claim == number or claim == number .. '!' then
    local isDeleted = string.sub(ARGV[4], i - 2, i - 2) == 'd'
    if isDeleted and redis.call('EXISTS', key) == 1 and isCopy(key, digest) then redis.call('UNLINK', key) end
    removeEntry(key)
    addLetter('s')
  else
    addLetter('l')
  end
end
writeList()
note('drop:' .. ARGV[5], ARGV[6])
return { allLetters() }
