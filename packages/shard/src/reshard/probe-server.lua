-- Writes the name of a node on its server, unless a name is there. Two nodes that get the same name are one server.
--
-- KEYS[1]  the hash of the state of the node
-- ARGV[1]  a field for this probe
-- ARGV[2]  the name of the node
-- Returns  the name in the field

-- Also on a full node: see evenWhenFull in reshard-state.lua.
redis.call('HDEL', KEYS[1], '')
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return { redis.call('HGET', KEYS[1], ARGV[1]) }
