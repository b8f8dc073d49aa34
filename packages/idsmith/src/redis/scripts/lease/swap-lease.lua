-- Replaces a lease record, if the stored one is the expected one.
--
-- ARGV[2]  the node id
-- ARGV[3]  the expected record without its label; empty if there must be no record
-- ARGV[4]  the next record with its label
-- ARGV[5]  the latest time at which the record may be written, ms since 1970
-- ARGV[6]  the record of the namespace itself that must be there, without its label; empty if it does not matter
-- Returns  1 if the record was replaced, otherwise 0

--- @include "lease-trust"
--- @include "clock"

local id, expected, next = ARGV[2], ARGV[3], ARGV[4]
local current = not isForgotten and redis.call('HGET', KEYS[1], id)
if expected == '' then
  if current then return 0 end
elseif not current or string.sub(current, 1, #expected) ~= expected then
  return 0
end
if tonumber(ARGV[5]) < clock then return 0 end
local birth = not isForgotten and redis.call('HGET', KEYS[1], '-1')
if ARGV[6] ~= '' and (not birth or string.sub(birth, 1, #ARGV[6]) ~= ARGV[6]) then return 0 end
if isForgotten then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], 'server', server, id, next)
return 1
