-- Reads the row of a sequence, and ends the script if the row is not the expected one. Sets `definition` and `next` to the
-- stored values. The reply of a script that ends here is empty if there is no row or another mark, and FORGOTTEN if the row
-- is not trusted.
--
-- A row is not trusted if another server wrote it, or this one before a restart. ARGV[1] decides what happens then:
-- `forgetful` leaves the row alone, because it may be older than the ids that were given out. `durable` trusts the row.
-- `vouched` trusts the row because the caller knows where to go on, if the caller has read the row from this server.
--
-- KEYS[1]  the hash of the sequence: the fields `definition`, `next`, `server` and `mark`
-- ARGV[1]  `forgetful`, `durable` or `vouched`
-- ARGV[2]  the expected definition
-- ARGV[3]  the next definition
-- ARGV[4]  the expected mark; empty for an allocation, which compares no marks
-- ARGV[5]  the next mark; empty for an allocation
-- ARGV[6]  the replication id of the server that the caller has read the row from; empty unless `vouched`

--- @include "on-master"
--- @const FORGETFUL
--- @const VOUCHED
--- @const FORGOTTEN
--- @const UNMARKED

local trust = ARGV[1]
local definition, next, writer, mark = unpack(redis.call('HMGET', KEYS[1], 'definition', 'next', 'server', 'mark'))
if not definition then return '' end
if trust == FORGETFUL and writer ~= server then return FORGOTTEN end
if trust == VOUCHED and ARGV[6] ~= server then return FORGOTTEN end
if ARGV[4] ~= '' and (mark or UNMARKED) ~= ARGV[4] then return '' end

-- Writes the next mark. A caller that vouches for the row makes this server its writer.
local function writeMark()
  if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'mark', ARGV[5]) end
  if trust == VOUCHED then redis.call('HSET', KEYS[1], 'server', server) end
end
