-- Removes keys from a list, if their entries are the ones that were read. Another mover may have claimed or taken a key since.
--
-- KEYS[1]  the hash of the list
-- KEYS     the keys, from KEYS[2] on
-- ARGV     the entry of each key
-- Returns  the number of keys that were removed

local removed = 0
for i = 2, #KEYS do
  if redis.call('HGET', KEYS[1], KEYS[i]) == ARGV[i - 1] then removed = removed + redis.call('HDEL', KEYS[1], KEYS[i]) end
end
return { removed }
