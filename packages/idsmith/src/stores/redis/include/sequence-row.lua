-- Reads the row of a sequence, and ends the script with an empty reply if the row is not the expected one, or this Redis has
-- another lineage than when the row was read. Sets `definition` and `next` to the stored values.
--
-- KEYS[1]  the hash of the sequence: the fields `definition`, `next`, `mark` and `server`
-- ARGV[1]  the lineage that this Redis must have; empty if it does not matter
-- ARGV[2]  the expected definition
-- ARGV[3]  the next definition
-- ARGV[4]  the expected mark; empty for an allocation, which compares no marks
-- ARGV[5]  the next mark; empty for an allocation

--- @include "on-master"
--- @const UNMARKED

local definition, next, mark = unpack(redis.call('HMGET', KEYS[1], 'definition', 'next', 'mark'))
if definition ~= ARGV[2] or (ARGV[1] ~= '' and ARGV[1] ~= server) then return '' end
if ARGV[4] ~= '' and (mark or UNMARKED) ~= ARGV[4] then return '' end

local function writeMark()
  if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'mark', ARGV[5]) end
end
