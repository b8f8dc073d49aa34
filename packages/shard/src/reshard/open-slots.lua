-- Lets keys go back from slots of a Redis Cluster. Nothing is brought to these slots any more in this round. A slot that knows a
-- later round is left as it is.
--
-- KEYS[1]  the hash of one slot; missing if hashes follow in ARGV
-- ARGV[1]  the id of the resharding
-- ARGV[2]  the round
-- ARGV[3]  a description for people
-- ARGV[4]  hashes of slots that this master has, from here on
-- Returns  an empty list

local function open(name)
  if tonumber(redis.call('HGET', name, 'round') or 0) > tonumber(ARGV[2]) then return end
  redis.call('HSET', name, 'move', ARGV[1], 'phase', 'returning', 'round', ARGV[2], 'about', ARGV[3])
end
-- The first write of a script is refused on a full master, unless it cannot grow anything.
redis.call('HDEL', KEYS[1] or ARGV[4], '')
for _, name in ipairs(KEYS) do open(name) end
for i = 4, #ARGV do open(ARGV[i]) end
return {}
