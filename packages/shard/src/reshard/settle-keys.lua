-- SETTLE: removes keys from the list of the target.
--
-- ARGV[5]  the claim number
-- ARGV[6]  for each key `d` to delete the copy or `k` to keep it; empty to keep all
-- ARGV[7]  the identity of the source
-- ARGV[8]  the number of the DROP there; 0 for none
-- Returns  for each key `s` or `l`

--- @include "moving-keys"

if not mayTake() then return staleReply() end
evenWhenFull()

local free, used, entries = ARGV[5] .. ' ', ARGV[5] .. '! ', readList()
local isAllKept = ARGV[6] == ''
for i = 1, #keys do
  local key, entry = keys[i], entries[i]
  if beginsWith(entry, used) or beginsWith(entry, free) then
    if not isAllKept and string.sub(ARGV[6], i, i) == 'd' and redis.call('EXISTS', key) == 1 then
      local _, digest = claimOf(entry)
      if isCopy(key, digest) then redis.call('UNLINK', key) end
    end
    removeEntry(key)
    addLetter('s')
  else
    addLetter('l')
  end
end
writeList()
note('drop:' .. ARGV[7], ARGV[8])
return { allLetters() }
