-- Ends the return of keys from slots of a Redis Cluster. A slot of another round is left as it is.
--
-- KEYS     the hash of one slot, or nothing
-- ARGV[1]  the round
-- ARGV     hashes of slots that this master has, from ARGV[2] on
-- Returns  an empty list

local function close(name)
  if redis.call('HGET', name, 'round') == ARGV[1] then redis.call('DEL', name) end
end
for _, name in ipairs(KEYS) do close(name) end
for i = 2, #ARGV do close(ARGV[i]) end
return {}
