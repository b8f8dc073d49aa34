-- Makes a key for a moment, to see how this server writes a value for others.
--
-- KEYS[1]  a key that does not exist
-- Returns  the answer of DUMP

-- Also on a full node: see evenWhenFull in reshard-state.lua.
redis.call('HDEL', KEYS[1], '')
redis.call('HSET', KEYS[1], 'field', 'value')
local dump = redis.call('DUMP', KEYS[1])
redis.call('DEL', KEYS[1])
return { dump }
