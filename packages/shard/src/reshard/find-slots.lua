-- Finds keys of resharding in many slots of one master of a Redis Cluster.
--
-- ARGV     names of keys, all in slots of this master
-- Returns  the positions in ARGV of the keys that exist

local found = {}
for i, name in ipairs(ARGV) do
  if redis.call('EXISTS', name) == 1 then found[#found + 1] = i end
end
return found
