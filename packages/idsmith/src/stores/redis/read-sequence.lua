-- Reads the row of a sequence.
--
-- KEYS[1]  the hash of the sequence: the fields `definition`, `next`, `mark` and `server`
-- Returns  definition, `next` and mark, each nil if absent; the lineage in which the row was last known to be whole, or nil;
--          the present lineage; the clock in seconds and microseconds

--- @include "on-master"

local row = redis.call('HMGET', KEYS[1], 'definition', 'next', 'mark', 'server')
local time = redis.call('TIME')
return { row[1], row[2], row[3], row[4], server, time[1], time[2] }
