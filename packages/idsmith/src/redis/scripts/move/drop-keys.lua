-- DROP: deletes keys on the source, if they are as they were taken.
--
-- ARGV[3]  the take number
-- ARGV[4]  for each key a line `digest expiry`
-- ARGV[5]  the name of the target
-- ARGV[6]  the number of the PUT there; 0 for none
-- Returns  for each key d(ropped), c(hanged), o(rphan: absent), or l(ost: another mover has taken the key); the number of
--          this DROP

--- @include "on-source"

-- The difference up to which two expiries are the same, ms.
local EXPIRY_TOLERANCE = 100

local number, entries = ARGV[3], readList()
local nextRow = string.gmatch(ARGV[4], '(%S+) (%S+)')
for i = 3, #KEYS do
  local key, digest, takenExpiry = KEYS[i], nextRow()
  local value = entries[i] == number and redis.call('DUMP', key)
  if entries[i] ~= number then
    addLetter('l')
  elseif not value then
    addLetter('o')
  else
    local ttl, expiry = redis.call('PTTL', key), tonumber(takenExpiry)
    local isSameExpiry = (ttl < 0 and expiry < 0)
      or (ttl >= 0 and expiry >= 0 and math.abs(clock + ttl - expiry) < EXPIRY_TOLERANCE)
    if isSameExpiry and redis.sha1hex(value) == digest then
      redis.call('UNLINK', key)
      removeEntry(key)
      addLetter('d')
    else
      -- The key stays on the list, because there is a copy. If the key is deleted before the next TAKE, the copy has to go.
      addLetter('c')
    end
  end
end
writeList()
note('put:' .. ARGV[5], ARGV[6])
return { allLetters(), countStep('drops') }
