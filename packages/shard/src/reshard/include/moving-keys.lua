-- Moving a key from its old owner O to its new owner N takes five steps. Each step is one script for many keys:
--
--   CLAIM on N    lists the key with a new claim number. N has no value, or a copy from a mover, or a value of its own
--   TAKE on O     reads value and TTL, and lists the key with a new take number
--   PUT on N      writes the copy, if the claim number is still the latest and nobody has written a value there
--   DROP on O     deletes the key, if the take number is still the latest and the value is the one that was taken
--   SETTLE on N   removes the key from the list
--
-- docs/resharding.md proves that no key is lost, doubled or brought back.
--
-- The list of O has the take number of each key: `mover.number`. The list of N has the claim number and a digest of the copy:
-- `mover.number digest`. The digest is empty until there is a copy. A claim number that was used for a copy gets a `!`. A PUT
-- with such a number does nothing, so a command that comes twice does no harm.
--
-- A value is either plain, which is the text of a string without a TTL, or a table with the answer of DUMP. Plain values are read
-- and written with one command for many keys. Values go from node to node in blocks: arrays in MessagePack, one after the other.
--
-- The reply has one text with one letter for each key, because hundreds of separate replies would cost more than the rest of
-- the work. A letter has one meaning in all scripts (LETTERS in key-mover.ts):
--
--   h  here      the source has the key, or a mover has taken it and not finished
--   a  absent    the source has neither
--   f  free      the target has no value
--   c  copy      the target has the copy of a mover
--   v  value     the target has a value of its own
--   t  taken     the value of the source is in the reply
--   n  not yet   the reply has enough bytes already
--   o  orphan    the key is absent although a mover has taken it
--   d  dropped   the key is deleted on the source
--   x  changed   the value, or one of the same block, is not the one that was taken
--   l  lost      another mover has claimed or taken the key since, or the key is kept
--   s  settled   the key is no longer on the list of the target
--   e  error     the target refused the copy
--
-- A resharding that was given up takes the same five steps backwards: N is then the node that gives keys away, and O the one
-- that takes them. In the words of these scripts, the source gives and the target takes, in either direction.
--
-- Each node counts its PUTs and DROPs, and the other node of a move notes the latest number. A node that comes back from a
-- crash with lower numbers than the others know has lost some of these steps.
--
-- A script of a Redis Cluster runs in one slot. Every slot has its own lists. In place of the state, it has a hash that is there
-- only while keys go back: `move`, `phase` (returning), `about` and `round`. A hash of an earlier round counts for nothing. Numbers
-- come from the clock, and steps are not counted.
--
-- KEYS[1]  the hash of the state of the node; in a cluster that of the slot, whose name has a `{`
-- KEYS[2]  the hash of the list of the node; in a cluster that of the slot
-- KEYS     the keys, from KEYS[3] on, if they are not in ARGV[4]. A cluster needs them here
-- ARGV[1]  the id of the resharding
-- ARGV[2]  `out` for moves to new owners, `back` for moves to old owners
-- ARGV[3]  the round of the mover. A mover that was stopped until a later round has begun must not go on
-- ARGV[4]  the keys as an array in MessagePack, which costs less than one argument each; empty if they are in KEYS

--- @include "reshard-state"
--- @const STALE

local list, isBack = KEYS[2], ARGV[2] == 'back'
local isSlot = string.find(state, '{', 1, true) ~= nil
local moverRound = tonumber(ARGV[3])
local isPresentRound = knownRound == moverRound
if isSlot then
  -- Only the state of a whole node is compared with other nodes.
  isChecked = true
  if knownRound < moverRound then phase, isPresentRound = 'before', true end
end

-- A number for a CLAIM or TAKE that no other one has. The name of the mover is another one for each move.
local function nextNumber(mover, field)
  if not isSlot then return mover .. '.' .. redis.call('HINCRBY', state, field, 1) end
  local time = redis.call('TIME')
  return mover .. '.' .. time[1] .. '.' .. time[2]
end

-- Counts a PUT or DROP, and returns its number.
local function countStep(field) return isSlot and 1 or redis.call('HINCRBY', state, field, 1) end

-- Notes the number of a step on another node, unless a higher one is known.
local function note(field, number)
  if isSlot then return end
  if tonumber(number) > tonumber(redis.call('HGET', state, field) or 0) then redis.call('HSET', state, field, number) end
end

-- Tells whether the node gives keys away now.
local function mayGive()
  local isGiving = phase == 'moving' or phase == 'done'
  if isBack then isGiving = phase == 'returning' end
  return isGiving and isChecked and isPresentRound
end

-- Tells whether the node takes keys now. A new owner takes keys even before the resharding has begun there. An old owner takes keys
-- back after it has stopped giving them away.
local function mayTake()
  local isTaking = phase ~= 'other' and phase ~= 'stopping' and phase ~= 'returning' and phase ~= 'aborted'
  if isBack then isTaking = phase == 'stopping' or phase == 'returning' end
  return isTaking and isChecked and isPresentRound
end

-- The reply of a script that may not: STALE, the phase, the description, 1 if checked, the round.
local function staleReply() return { STALE, unpack(answer()) } end

local keys = ARGV[4] ~= '' and cmsgpack.unpack(ARGV[4]) or {}
for i = 3, #KEYS do keys[i - 2] = KEYS[i] end

-- The number of keys in one call of Redis. A call for many keys costs little more than a call for one key.
local CHUNK = 1000

-- The entries of all keys in a list, at the index of the key. Without a name, the list of this node.
local function readList(name)
  local entries = {}
  for i = 1, #keys, CHUNK do
    local texts = redis.call('HMGET', name or list, unpack(keys, i, math.min(i + CHUNK - 1, #keys)))
    for j = 1, #texts do entries[i + j - 1] = texts[j] end
  end
  return entries
end

-- Changes of the list, which `writeList` writes together. `added` has keys and entries in turn.
local added, addedCount, removed, removedCount = {}, 0, {}, 0
local function addEntry(key, text)
  added[addedCount + 1], added[addedCount + 2] = key, text
  addedCount = addedCount + 2
end
local function removeEntry(key)
  removedCount = removedCount + 1
  removed[removedCount] = key
end
-- Redis keeps a small hash as a flat list, and searches all of it for each field. A long value makes it a table.
local FLAT, LONG = 16, string.rep(' ', 1000)
local function writeList()
  if addedCount > 2 * FLAT then redis.call('HSET', list, added[1], LONG) end
  for i = 1, addedCount, 2 * CHUNK do
    redis.call('HSET', list, unpack(added, i, math.min(i + 2 * CHUNK - 1, addedCount)))
  end
  for i = 1, removedCount, CHUNK do
    redis.call('HDEL', list, unpack(removed, i, math.min(i + CHUNK - 1, removedCount)))
  end
end

-- The letters of the reply, one for each key.
local letters, letterCount = {}, 0
local function addLetter(letter)
  letterCount = letterCount + 1
  letters[letterCount] = letter
end
local function allLetters() return table.concat(letters) end

-- The source: values are read in blocks. A block has one digest, which covers all of its values and their sizes. If one of the
-- values changes, all keys of the block count as changed.

-- Tells whether a key of this server may have a TTL.
local function mayExpire()
  local keyspace = redis.call('INFO', 'keyspace')
  return not string.find(keyspace, 'expires=0') or string.find(keyspace, 'expires=[1-9]') ~= nil
end

-- The difference up to which two times are the same, ms.
local expiryTolerance = 0

-- The time at which a key expires, Unix ms; less than 0 for never. Redis 6 has no PEXPIRETIME, and a user may not run it: then the
-- time is right to within some milliseconds.
local function expiryOf(key)
  if expiryTolerance == 0 then
    local expiry = redis.pcall('PEXPIRETIME', key)
    if type(expiry) == 'number' then return expiry end
    expiryTolerance = 100
  end
  local ttl, now = redis.call('PTTL', key), redis.call('TIME')
  return ttl < 0 and ttl or now[1] * 1000 + math.floor(now[2] / 1000) + ttl
end

-- Reads the keys from index `first` to `last`. `hasExpiries` is the answer of `mayExpire`. Returns their values, false for an absent
-- key, and by row the times at which they expire, for those that do.
local function readBlock(first, last, hasExpiries)
  local values, expiries = redis.call('MGET', unpack(keys, first, last)), {}
  for row = 1, last - first + 1 do
    if hasExpiries or not values[row] then
      local key = keys[first + row - 1]
      local expiry = hasExpiries and expiryOf(key) or -1
      if not values[row] or expiry >= 0 then
        local dump = redis.call('DUMP', key)
        values[row] = dump and { dump }
        if dump and expiry >= 0 then expiries[row] = expiry end
      end
    end
  end
  return values, expiries
end

-- The target: a copy is told from a value of the target's own by the digest in the list.

-- Tells whether the node has none of the keys, as is usual for a new owner.
local function hasNoKey()
  for i = 1, #keys, CHUNK do
    if redis.call('EXISTS', unpack(keys, i, math.min(i + CHUNK - 1, #keys))) > 0 then return false end
  end
  return true
end

-- The claim number and the digest of an entry in the list; nil without an entry.
local function claimOf(entry)
  if not entry then return nil end
  return string.match(entry, '^(%S+) (.*)$')
end

-- Tells whether an entry has this beginning: a claim number and a mark.
local function beginsWith(entry, text) return entry and string.sub(entry, 1, #text) == text end

-- The longest plain value that is its own digest. Longer ones, and answers of DUMP, have a digest of 40 characters.
local SHORT = 40

-- The digest of a plain value.
local function plainDigest(value) return #value <= SHORT and '=' .. value or 's' .. redis.sha1hex(value) end

-- Tells whether the value of a key is the copy with this digest.
local function isCopy(key, digest)
  if not digest or digest == '' then return false end
  if not string.find(digest, '^[=s]') then return digest == redis.sha1hex(redis.call('DUMP', key)) end
  -- A plain copy has no TTL.
  local value = redis.call('MGET', key)[1]
  return value and redis.call('PTTL', key) < 0 and plainDigest(value) == digest
end
