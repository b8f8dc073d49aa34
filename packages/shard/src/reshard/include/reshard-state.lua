-- Reads the state of a resharding on a node: one hash.
--
--   move            the id of the resharding: fingerprints of its old and its new map; `about` describes it for people
--   round           a number that every beginning takes anew, higher than all before. A process of an earlier round does nothing
--   phase           preparing: announced · cancelled: the announcement was taken back · moving: keys are moved · done: all
--                   keys have been moved · stopping: given up · returning: keys go back · aborted: all keys are back
--   was             the id and the phase of the resharding before; they count again after `cancelled`
--   ended           the round of the last resharding with other maps that has ended here; 0 for none. A hash from a backup of the time
--                   before that round is outdated
--   since           the time of the last announcement, or of the last try to begin, ms
--   settings        the settings of the resharding that a later run has to use, as JSON
--   gone            the identities of nodes that are lost for good, as JSON
--   server          the replication id of the Redis that this hash was last checked on, against the other nodes
--   claims takings  the number of CLAIMs and TAKEs, so that no number is used twice
--   puts drops      the number of PUTs and DROPs on this node
--   put:N drop:N    the highest number of a PUT or DROP on the node with the identity N that this node knows of
--   progress        the round, the time and the progress of the last run, for people
--   member:ID       a process that uses the node as an old owner, and the time of its last heartbeat, ms
--   user:ID         the same for a process that uses the node as a new owner
--
-- A hash whose `server` is another one was written before a restart or a failover. Such a hash may be older than what the
-- other nodes know. It counts only after it has been checked.
--
-- Sets `phase`: one of the above, or `before` if this resharding has not begun, or `other` if another one is not finished, or
-- `mismatch` if another one has left keys where the old map of this one does not look for them.
-- Sets `isChecked` and `knownRound`. Times are those of the clock of this Redis.
--
-- KEYS[1]  the hash
-- ARGV[1]  the id of the resharding

--- @include "on-master"
--- @include "clock"

-- The silence after which an announcement is void, because the process that made it has died, ms.
local ANNOUNCEMENT_TIMEOUT = 3000

local state, reshardId = KEYS[1], ARGV[1]

local storedId, storedPhase, since, about, round, writer, was =
  unpack(redis.call('HMGET', state, 'move', 'phase', 'since', 'about', 'round', 'server', 'was'))
local isChecked = writer == server
local knownRound = tonumber(round or 0)
local isVoid = storedPhase == 'preparing'
  and (clock - tonumber(since) > ANNOUNCEMENT_TIMEOUT or not isChecked)
local isTakenBack = isVoid or storedPhase == 'cancelled'
if isTakenBack then storedId, storedPhase = string.match(was or '', '^(%S+) (%S+)$') end
local phase = 'before'
if storedId == reshardId then
  -- An earlier round was given up, and the round of the announcement may have begun on other nodes: it was not given up.
  if not (isTakenBack and storedPhase == 'aborted') then phase = storedPhase end
elseif storedPhase == 'done' or storedPhase == 'aborted' then
  -- The map that the keys were left in: the new one of a resharding that is done, the old one of one that was given up.
  local left = string.match(storedId, storedPhase == 'done' and '%-(.*)' or '(.*)%-')
  if left ~= string.match(reshardId, '(.*)%-') then phase = 'mismatch' end
elseif storedPhase then
  phase = 'other'
end

-- Lets a script write on a full node. Redis refuses the first write of a script there, unless the command cannot grow anything,
-- and refuses no later one. Scripts that only hand keys over, or free memory in the end, call this before they write.
local function evenWhenFull() redis.call('HDEL', state, '') end

-- The phase, the description of the stored resharding, 1 if the hash has been checked on this server, otherwise 0, the round.
local function answer() return { phase, about or '', isChecked and 1 or 0, knownRound } end

-- Counts the processes that are signed on with a prefix, and removes those that have been silent for longer than `timeout`.
local function countProcesses(prefix, timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #prefix) == prefix then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end
