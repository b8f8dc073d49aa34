-- PUT: writes copies on the target.
--
-- ARGV[3]  the claim number
-- ARGV[4]  for each key a line `size ttl`; ttl 0 for none
-- ARGV[5]  all values joined
-- Returns  for each key c(opied), t(aken: the target has a value of its own), l(ost: another mover has claimed the key), or
--          e(rror); the last error, empty if there was none; the number of this PUT

--- @include "on-target"

local number, values, position, lastError = ARGV[3], ARGV[5], 1, ''
local isEmpty, entries = hasNoKey(), readList()
local nextRow = string.gmatch(ARGV[4], '(%d+) (%d+)')
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
return { allLetters(), lastError, countStep('puts') }
