-- DROP: deletes keys on the source, if they are as they were taken.
--
-- ARGV[5]  the take number
-- ARGV[6]  for each block of values a line `count digest`
-- ARGV[7]  for each key with a TTL a line `row expiry`
-- ARGV[8]  for each key `d` to delete it or `k` to keep it; empty to delete all
-- ARGV[9]  the identity of the target
-- ARGV[10] the number of the PUT there; 0 for none
-- Returns  for each key `d`, `x`, `o` or `l`; the number of this DROP

--- @include "moving-keys"

if not mayGive() then return staleReply() end
evenWhenFull()

local number, fates, entries = ARGV[5], ARGV[8], readList()
local isAllDeleted, hasExpiries = fates == '', mayExpire()
local expiries = {}
for row, expiry in string.gmatch(ARGV[7], '(%d+) (%d+)') do expiries[tonumber(row)] = tonumber(expiry) end

local function isSameExpiry(now, taken)
  if not now or not taken then return not now and not taken end
  return math.abs(now - taken) <= expiryTolerance
end

local dropped, droppedCount, first = {}, 0, 1
for count, digest in string.gmatch(ARGV[6], '(%d+) (%w+)') do
  local last = first + tonumber(count) - 1
  local values, times = readBlock(first, last, hasExpiries)
  local isSame = redis.sha1hex(cmsgpack.pack(values)) == digest
  if hasExpiries or ARGV[7] ~= '' then
    for i = first, last do
      isSame = isSame and isSameExpiry(times[i - first + 1], expiries[i])
    end
  end
  for i = first, last do
    if entries[i] ~= number or (not isAllDeleted and string.sub(fates, i, i) == 'k') then
      addLetter('l')
    elseif isSame then
      droppedCount = droppedCount + 1
      dropped[droppedCount] = keys[i]
      addLetter('d')
    else
      -- The key stays on the list, because there is a copy. If the key is deleted before the next TAKE, the copy has to go.
      addLetter(values[i - first + 1] and 'x' or 'o')
    end
  end
  first = last + 1
end
for i = 1, droppedCount, CHUNK do
  local last = math.min(i + CHUNK - 1, droppedCount)
  redis.call('UNLINK', unpack(dropped, i, last))
  redis.call('HDEL', list, unpack(dropped, i, last))
end
note('put:' .. ARGV[9], ARGV[10])
return { allLetters(), countStep('drops') }
