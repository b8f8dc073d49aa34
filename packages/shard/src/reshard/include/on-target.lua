-- Begins a script on the node that takes keys. A new owner takes keys even before the resharding has begun there. An old owner
-- takes keys back after it has stopped giving them away. Ends the script with the reply STALE if the node must not do that now.

--- @include "moving-keys"

local isTaking = phase ~= 'other' and phase ~= 'stopping' and phase ~= 'returning' and phase ~= 'aborted'
if isBack then isTaking = phase == 'stopping' or phase == 'returning' end
if not isTaking or not isChecked or not isPresentRound then return staleReply() end

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
