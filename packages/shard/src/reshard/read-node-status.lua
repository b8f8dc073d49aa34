-- Reads what an operator wants to know of a node, whichever resharding it takes part in.
--
-- ARGV[1]  empty
-- ARGV[2]  `count` to count the keys of this server; otherwise empty
-- Returns  the phase of the stored resharding, empty if there was none; its description; the progress of its last run, as JSON, and
--          the age of that in ms; the number of keys, −1 if they are not counted

--- @include "reshard-state"

local keys = ARGV[2] == 'count' and redis.pcall('DBSIZE')
local notedRound, notedAt, progress =
  string.match(redis.call('HGET', state, 'progress') or '', '^(%d+) (%d+) (.*)$')
if tonumber(notedRound or -1) ~= knownRound or isTakenBack then progress = nil end
return { storedPhase or '', not isTakenBack and about or '', progress or '', progress and clock - tonumber(notedAt) or 0,
  type(keys) == 'number' and keys or -1 }
