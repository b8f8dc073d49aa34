-- Tries every command that resharding needs, in a way that leaves nothing behind.
--
-- KEYS[1]  the hash of the state of the node
-- KEYS[2]  a key that does not exist
-- Returns  the names of the commands that the user is not allowed to run; those of the commands that the server does not know

local state, absent = KEYS[1], KEYS[2]
local refused, unknown = {}, {}
local function try(...)
  local reply = redis.pcall(...)
  local message = type(reply) == 'table' and reply['err'] or ''
  if string.find(message, 'NOPERM', 1, true) or string.find(message, "can't run this command", 1, true) then
    refused[#refused + 1] = (...)
  end
  if string.find(message, 'Unknown Redis command', 1, true) then unknown[#unknown + 1] = (...) end
end
local function failures() return #refused + #unknown end
-- HSETNX and HSET write a field that HDEL removes at once.
try('HDEL', state, '')
if failures() == 0 then
  try('HSETNX', state, '', '')
  try('HSET', state, '', '')
  try('HDEL', state, '')
end
try('HMGET', state, '')
try('HGET', state, '')
try('HGETALL', absent)
try('HKEYS', absent)
try('HEXISTS', state, '')
-- These two fail because of their values, after Redis has checked the permission.
try('HINCRBY', absent, '', 'x')
try('RESTORE', absent, 0, '')
try('DUMP', absent)
try('EXISTS', absent)
try('PTTL', absent)
try('UNLINK', absent)
local known = failures()
try('DEL', absent)
-- MSET writes a key that DEL removes at once.
if failures() == known then
  try('MSET', absent, '')
  try('DEL', absent)
end
try('MGET', absent)
try('TYPE', absent)
try('MEMORY', 'USAGE', absent)
try('TIME')
try('INFO', 'replication')
return { refused, unknown }
