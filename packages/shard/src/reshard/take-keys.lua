-- TAKE: reads keys on the source, and lists them with a new take number.
--
-- ARGV[5]  the name of the mover
-- ARGV[6]  the number of bytes that are enough for one reply
-- ARGV[7]  the largest number of values in a block
-- Returns  the take number; for each key `t`, `a`, `o` or `n`; the blocks of values; for each block a line `count digest`; for each key with a TTL a
--          line `row expiry`, where rows count the keys that were taken; the number of bytes of all values; 1 if the resharding
--          accepts targets that remove keys when they are full, otherwise 0

--- @include "moving-keys"

if not mayGive() then return staleReply() end
evenWhenFull()

-- The number of bytes in a block after which the next block has one value.
local LARGE = 65536

local number, most = nextNumber(ARGV[5], 'takings'), tonumber(ARGV[6])
local taken, bytes, length = 0, 0, tonumber(ARGV[7])
local blocks, digests, expiries = {}, {}, {}
local entries
local hasExpiries = mayExpire()

local function takeBlock(first, last)
  local found, times = readBlock(first, last, hasExpiries)
  local values, count, before = {}, 0, bytes
  for row = 1, last - first + 1 do
    local value, key = found[row], keys[first + row - 1]
    if bytes >= most then
      addLetter('n')
    elseif value then
      count, taken = count + 1, taken + 1
      values[count] = value
      bytes = bytes + (type(value) == 'string' and #value or #value[1])
      if times[row] then expiries[#expiries + 1] = string.format('%d %.0f', taken, times[row]) end
      addEntry(key, number)
      addLetter('t')
    else
      entries = entries or readList()
      if entries[first + row - 1] then addEntry(key, number) end
      addLetter(entries[first + row - 1] and 'o' or 'a')
    end
  end
  if bytes - before > LARGE then length = 1 end
  if count == 0 then return end
  local block = cmsgpack.pack(values)
  blocks[#blocks + 1], digests[#digests + 1] = block, count .. ' ' .. redis.sha1hex(block)
end

local first = 1
while first <= #keys do
  if bytes >= most then
    addLetter('n')
    first = first + 1
  else
    local last = math.min(first + length - 1, #keys)
    takeBlock(first, last)
    first = last + 1
  end
end
writeList()
local settings = redis.call('HGET', state, 'settings')
return {
  number,
  allLetters(),
  table.concat(blocks),
  table.concat(digests, '\n'),
  table.concat(expiries, '\n'),
  bytes,
  settings and string.find(settings, '"acceptEvictingTarget":true', 1, true) and 1 or 0,
}
