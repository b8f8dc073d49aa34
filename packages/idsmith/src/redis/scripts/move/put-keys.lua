-- PUT: writes copies on the new owner.
--
-- ARGV[2]  the claim number
-- ARGV[3]  for each key a line `size ttl`; ttl 0 for none
-- ARGV[4]  all values joined
-- Returns  for each key c(opied), t(aken: the new owner has a value of its own), l(ost: another mover has claimed the key), or
--          e(rror); the last error, empty if there was none

--- @include "on-target"

local number, values, position, lastError = ARGV[2], ARGV[4], 1, ''
local isEmpty, entries = hasNoKey(), readList()
local nextRow = string.gmatch(ARGV[3], '(%d+) (%d+)')
for i = 3, #KEYS do
  local key, size, ttl = KEYS[i], nextRow()
  local value = string.sub(values, position, position + size - 1)
  position = position + size
  local claim, digest = claimOf(entries[i])
  if claim ~= number then
    addLetter('l')
  elseif not isEmpty and redis.call('EXISTS', key) == 1 and not isCopy(key, digest) then
    removeEntry(key)
    addLetter('t')
  else
    local reply = redis.pcall('RESTORE', key, ttl, value, 'REPLACE')
    if reply['err'] then
      lastError = reply['err'] .. ' (' .. key .. ')'
      addLetter('e')
    else
      -- There is no copy if the value has expired on the way.
      local copy = redis.call('DUMP', key)
      addEntry(key, number .. '! ' .. (copy and redis.sha1hex(copy) or ''))
      addLetter('c')
    end
  end
end
writeList()
return { allLetters(), lastError }
