-- Reads the row of a sequence.
--
-- KEYS[1]  the hash of the sequence
-- Returns  definition, `next` and mark, each nil if absent, and the replication id of this server

--- @include "on-master"

local row = redis.call('HMGET', KEYS[1], 'definition', 'next', 'mark')
return { row[1], row[2], row[3], server }
