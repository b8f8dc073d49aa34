-- Reads the state of a resharding on a node: one hash.
--
--   move            the id of the resharding; `about` describes it for people
--   phase           preparing: announced · moving: keys are moved · done: all keys have been moved
--   since           the time of the last announcement, or of the last try to begin, ms
--   claims takings  the number of CLAIMs and TAKEs, so that no number is used twice
--   member:ID       a process that still uses the old node, and the time of its last heartbeat, ms
--
-- Sets `phase`: `before`, `preparing`, `moving`, `done`, or `other` for another resharding that is not finished. Times are
-- those of the clock of this Redis.
--
-- KEYS[1]  the hash
-- ARGV[1]  the id of the resharding

--- @include "clock"

-- The silence after which an announcement is void, because the process that made it has died, ms.
local ANNOUNCEMENT_TIMEOUT = 3000

local state, reshardId = KEYS[1], ARGV[1]
local storedId, storedPhase, since, about = unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about'))
local phase = 'before'
if storedId and (storedPhase == 'preparing' or storedPhase == 'moving') and storedId ~= reshardId then
  phase = 'other'
elseif storedId == reshardId then
  phase = storedPhase
end
if phase == 'preparing' and clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT then phase = 'before' end

-- The phase and the description of the stored resharding.
local function answer() return { phase, about or '' } end
