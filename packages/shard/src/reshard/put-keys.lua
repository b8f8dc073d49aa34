-- PUT: writes copies on the target.
--
-- ARGV[5]  the claim number
-- ARGV[6]  the blocks of values
-- ARGV[7]  for each key with a TTL a line `row expiry`, the time at which it expires
-- ARGV[8]  1 if the target may be one that removes keys when it is full
-- Returns  for each key `c` (unless there was an error), `v`, `l` or `e`; the last error, empty if there was none; the number of this PUT. Or EVICTING and the
--          policy of a target that removes keys when it is full: nothing was written

--- @include "moving-keys"
--- @const EVICTING

if not mayTake() then return staleReply() end

-- The originals of copies are deleted, so copies must stay. An old owner that gets its keys back may remove them as before.
if not isBack and ARGV[8] ~= '1' then
  local memory = redis.call('INFO', 'memory')
  local policy = string.match(memory, 'maxmemory_policy:(%S+)')
  if policy ~= 'noeviction' and string.match(memory, 'maxmemory:(%d+)') ~= '0' then return { EVICTING, policy or '' } end
end

local number, lastError = ARGV[5], ''
local isEmpty, entries = hasNoKey(), readList()
local free, used = number .. ' ', number .. '! '
local expiries = {}
for row, expiry in string.gmatch(ARGV[7], '(%d+) (%d+)') do expiries[tonumber(row)] = expiry end

-- Plain copies, which are written together: key, value, key, value, and so on. Lists the keys that were written.
local plain, plainCount = {}, 0
local function writePlain()
  for i = 1, plainCount, 2 * CHUNK do
    local last = math.min(i + 2 * CHUNK - 1, plainCount)
    local reply = redis.pcall('MSET', unpack(plain, i, last))
    if reply['err'] then
      lastError = reply['err'] .. ' (' .. plain[i] .. ')'
    else
      for j = i, last, 2 do addEntry(plain[j], used .. plainDigest(plain[j + 1])) end
    end
  end
end

-- Tells whether the key with index `i` may be written: this mover has claimed it last. Otherwise adds the letter.
local function mayWrite(i, key)
  local isFree, digest = entries[i] == free, nil
  if not isFree then
    local claim
    claim, digest = claimOf(entries[i])
    isFree = claim == number
  end
  if not isFree then
    addLetter('l')
    return false
  end
  if isEmpty or redis.call('EXISTS', key) == 0 or isCopy(key, digest) then return true end
  removeEntry(key)
  addLetter('v')
  return false
end

local function putValue(i, key, value)
  if type(value) == 'string' then
    plain[plainCount + 1], plain[plainCount + 2] = key, value
    plainCount = plainCount + 2
    return addLetter('c')
  end
  local reply = redis.pcall('RESTORE', key, expiries[i] or 0, value[1], 'REPLACE', 'ABSTTL')
  if reply['err'] then
    lastError = reply['err'] .. ' (' .. key .. ')'
    return addLetter('e')
  end
  -- There is no copy if the value has expired on the way.
  local copy = redis.call('DUMP', key)
  addEntry(key, used .. (copy and redis.sha1hex(copy) or ''))
  addLetter('c')
end

local i, offset = 0, 0
while offset >= 0 and i < #keys do
  local block
  offset, block = cmsgpack.unpack_one(ARGV[6], offset)
  for row = 1, #block do
    i = i + 1
    if mayWrite(i, keys[i]) then putValue(i, keys[i], block[row]) end
  end
end
writePlain()
writeList()
return { allLetters(), lastError, countStep('puts') }
