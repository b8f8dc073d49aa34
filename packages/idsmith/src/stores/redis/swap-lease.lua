-- Replaces a lease record, if the stored one is the expected one.
--
-- KEYS[1]  the hash of the namespace: a field for each record, and `server`, the lineage in which record -1 was written
-- ARGV[1]  the node id
-- ARGV[2]  the expected record without its label; empty if there must be no record
-- ARGV[3]  the next record with its label
-- ARGV[4]  the lineage that this Redis must have; empty if it does not matter
-- ARGV[5]  the record -1 that must be there, without its label; empty if it does not matter
-- ARGV[6]  1 if record -1, if there is one, must have been written in the present lineage
-- Returns  1 if the record was replaced, otherwise 0

--- @include "on-master"

local id, expected, next, lineage, birth = unpack(ARGV)
local current, present, writer = unpack(redis.call('HMGET', KEYS[1], id, '-1', 'server'))
local function is(record, text) return record and string.sub(record, 1, #text) == text end

if lineage ~= '' and lineage ~= server then return 0 end
if expected == '' and current or expected ~= '' and not is(current, expected) then return 0 end
if birth ~= '' and not is(present, birth) then return 0 end
if ARGV[6] == '1' and writer and writer ~= server then return 0 end
redis.call('HSET', KEYS[1], id, next)
if id == '-1' then redis.call('HSET', KEYS[1], 'server', server) end
return 1
