-- Begins a script on the node that takes keys. A new owner takes keys even before the resharding has begun there. An old owner
-- takes keys back after it has stopped giving them away. Ends the script with the reply STALE if the node must not do that now.

--- @include "moving-keys"

local isTaking = phase ~= 'other' and phase ~= 'stopping' and phase ~= 'returning' and phase ~= 'aborted'
if isBack then isTaking = phase == 'stopping' or phase == 'returning' end
if not isTaking or not isChecked then return staleReply() end

-- Tells whether the node has none of the keys, as is usual for a new owner.
local function hasNoKey()
  for i = 3, #KEYS, CHUNK do
    if redis.call('EXISTS', unpack(KEYS, i, math.min(i + CHUNK - 1, #KEYS))) > 0 then return false end
  end
  return true
end

-- The claim number and the digest of an entry in the list; nil without an entry.
local function claimOf(entry)
  if not entry then return nil end
  return string.match(entry, '^(%S+) (.*)$')
end

-- Tells whether the value of a key is the copy with this digest.
local function isCopy(key, digest)
  return digest and digest ~= '' and digest == redis.sha1hex(redis.call('DUMP', key))
end
