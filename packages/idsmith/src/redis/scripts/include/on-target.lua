-- Begins a script on the new owner, which takes keys even before the resharding has begun there. Ends the script with the
-- reply STALE if another resharding is under way.

--- @include "moving-keys"
--- @const STALE

if not isOurs and (phase == 'preparing' or phase == 'moving') then return { STALE } end

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
