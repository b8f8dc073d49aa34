-- Tries to read a value as another server has written it, and leaves nothing behind.
--
-- KEYS[1]  a key that does not exist
-- ARGV[1]  an answer of DUMP
-- Returns  the error of RESTORE; empty if there was none

-- Also on a full node: see evenWhenFull in reshard-state.lua.
redis.call('HDEL', KEYS[1], '')
local reply = redis.pcall('RESTORE', KEYS[1], 0, ARGV[1], 'REPLACE', 'ABSTTL')
redis.call('DEL', KEYS[1])
return { reply['err'] or '' }
