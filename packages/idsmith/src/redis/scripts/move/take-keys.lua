-- TAKE: reads keys on the source, and lists them with a new take number.
--
-- ARGV[3]  the name of the mover
-- ARGV[4]  the number of bytes that are enough for one reply
-- Returns  the take number; for each key t(aken), a(bsent), o(rphan: absent although a mover has taken it), or l(ater: the
--          reply has enough bytes already); for each taken key a line `size ttl digest expiry`; all values joined

--- @include "on-source"

local number = nextNumber(ARGV[3], 'takings')
local left = tonumber(ARGV[4])
local rows, values = {}, {}
for i = 3, #KEYS do
  local key = KEYS[i]
  if left <= 0 then
    addLetter('l')
  else
    local value = redis.call('DUMP', key)
    if value then
      local ttl = redis.call('PTTL', key)
      left = left - #value
      local expiry = ttl < 0 and '-1' or string.format('%.0f', clock + ttl)
      rows[#rows + 1] = #value .. ' ' .. ttl .. ' ' .. redis.sha1hex(value) .. ' ' .. expiry
      values[#values + 1] = value
      addEntry(key, number)
      addLetter('t')
    elseif redis.call('HEXISTS', list, key) == 1 then
      addEntry(key, number)
      addLetter('o')
    else
      addLetter('a')
    end
  end
end
writeList()
return { number, allLetters(), table.concat(rows, '\n'), table.concat(values) }
