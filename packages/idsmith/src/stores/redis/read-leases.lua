-- Reads some lease records of a namespace: those of the namespace itself, and those of some node ids.
--
-- KEYS[1]  the hash of the namespace
-- ARGV[1]  the first node id
-- ARGV[2]  the last node id; less than the first one for none
-- Returns  the records that exist

--- @include "on-master"

local found = {}
local ids = { -2, -1 }
for id = tonumber(ARGV[1]), tonumber(ARGV[2]) do ids[#ids + 1] = id end
for _, record in ipairs(redis.call('HMGET', KEYS[1], unpack(ids))) do
  if record then found[#found + 1] = record end
end
return found
