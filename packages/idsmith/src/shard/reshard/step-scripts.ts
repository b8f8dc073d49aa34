// One key goes from its old owner O to its new owner N in five steps, each a script for many keys:
//
//   CLAIM on N    notes the key under a new number; what is there is no copy, or a copy of ours, or somebody's value
//   TAKE on O     reads value and TTL, and notes the key under a new number
//   PUT on N      writes the copy, if the number of the claim is still the latest and nobody has written there
//   DROP on O     deletes the key, if the number of the taking is still the latest and the key is what was taken
//   SETTLE on N   strikes the key off the list
//
// docs/resharding.md says why no key is lost, doubled or brought back by that.
//
// KEYS: the state of the node, its list, then the keys. ARGV: the move, then what each step needs.

const STATE = `
local state, list = KEYS[1], KEYS[2]
local now = redis.call('HMGET', state, 'move', 'phase')
local isOurs, phase = now[1] == ARGV[1], now[2]
`;

const LIST = `
local result = {}
local function digestOf(key) return redis.sha1hex(redis.call('DUMP', key)) end

-- What the list says of each key, and what it is to say: a call for many keys costs little more than one for a key.
local SOME = 1000
local listed = {}
for i = 3, #KEYS, SOME do
  local texts = redis.call('HMGET', list, unpack(KEYS, i, math.min(i + SOME - 1, #KEYS)))
  for j = 1, #texts do listed[i + j - 1] = texts[j] end
end
local entries, gone = {}, {}
local function note(key, text)
  entries[#entries + 1] = key
  entries[#entries + 1] = text
end
local function strike(key) gone[#gone + 1] = key end
local function write()
  for i = 1, #entries, 2 * SOME do
    redis.call('HSET', list, unpack(entries, i, math.min(i + 2 * SOME - 1, #entries)))
  end
  for i = 1, #gone, SOME do redis.call('HDEL', list, unpack(gone, i, math.min(i + SOME - 1, #gone))) end
  return result
end
-- '<number> <digest>' as its two parts; the digest is empty until there is a copy.
local function entry(i)
  if not listed[i] then return nil end
  return string.match(listed[i], '^(%S+) (.*)$')
end
`;

/** The old owner gives keys away once it has begun there. */
const ON_SOURCE = `${STATE}
if not isOurs or (phase ~= 'moving' and phase ~= 'done') then return { 'stale' } end
${LIST}`;

/** The new one takes them also before it begins to give away its own, which is when no process works there as before. */
const ON_TARGET = `${STATE}
if not isOurs and (phase == 'preparing' or phase == 'moving') then return { 'stale' } end
${LIST}`;

/** ARGV: a name of the caller. → the number, and of each key: free, copy, taken */
export const CLAIM = `${ON_TARGET}
local number = ARGV[2] .. '.' .. redis.call('HINCRBY', state, 'claims', 1)
result[1] = number
for i = 3, #KEYS do
  local key, digest, verdict = KEYS[i], '', 'free'
  if redis.call('EXISTS', key) == 1 then
    local _, old = entry(i)
    if old and old ~= '' and old == digestOf(key) then
      digest, verdict = old, 'copy'
    else
      verdict = 'taken'
    end
  end
  if verdict == 'taken' then strike(key) else note(key, number .. ' ' .. digest) end
  result[#result + 1] = verdict
end
return write()`;

/**
 * ARGV: a name of the caller, how many bytes are enough. → the number, and of each key: absent; orphan, which is absent
 * although it was taken; later, when it has become too much; or [value, TTL, digest, when it expires]
 */
export const TAKE = `${ON_SOURCE}
local number = ARGV[2] .. '.' .. redis.call('HINCRBY', state, 'takings', 1)
local left = tonumber(ARGV[3])
local time = redis.call('TIME')
local ms = time[1] * 1000 + math.floor(time[2] / 1000)
result[1] = number
for i = 3, #KEYS do
  local key, row = KEYS[i], 'later'
  if left > 0 then
    local value = redis.call('DUMP', key)
    if value then
      local ttl = redis.call('PTTL', key)
      left = left - #value
      row = { value, ttl, redis.sha1hex(value), ttl < 0 and '-1' or string.format('%.0f', ms + ttl) }
      note(key, number)
    elseif listed[i] then
      row = 'orphan'
      note(key, number)
    else
      row = 'absent'
    end
  end
  result[#result + 1] = row
end
return write()`;

/** ARGV: the number of the claim, then TTL (0: none) and value of each key. → of each: copied, taken, lost, or an error */
export const PUT = `${ON_TARGET}
local number = ARGV[2]
for i = 3, #KEYS do
  local key, at = KEYS[i], 2 * i - 3
  local mine, digest = entry(i)
  if mine ~= number then
    result[#result + 1] = 'lost'
  elseif redis.call('EXISTS', key) == 1 and (digest == '' or digest ~= digestOf(key)) then
    strike(key)
    result[#result + 1] = 'taken'
  else
    local answer = redis.pcall('RESTORE', key, ARGV[at], ARGV[at + 1], 'REPLACE')
    if answer['err'] then
      result[#result + 1] = { answer['err'] }
    else
      -- A value that has expired on the way is gone already.
      local copy = redis.call('DUMP', key)
      note(key, number .. ' ' .. (copy and redis.sha1hex(copy) or ''))
      result[#result + 1] = 'copied'
    end
  end
end
return write()`;

/** ARGV: the number of the taking, then digest and expiry of each key. → of each: dropped, changed, orphan, lost */
export const DROP = `${ON_SOURCE}
local number = ARGV[2]
local time = redis.call('TIME')
local ms = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 3, #KEYS do
  local key, at, verdict = KEYS[i], 2 * i - 3, 'lost'
  if listed[i] == number then
    local value = redis.call('DUMP', key)
    if not value then
      verdict = 'orphan'
    else
      local ttl, expiry = redis.call('PTTL', key), tonumber(ARGV[at + 1])
      local same = (ttl < 0 and expiry < 0) or (ttl >= 0 and expiry >= 0 and math.abs(ms + ttl - expiry) < 100)
      if same and redis.sha1hex(value) == ARGV[at] then
        redis.call('UNLINK', key)
        strike(key)
        verdict = 'dropped'
      else
        -- Stays on the list: there is a copy, which has to go if the key is deleted before it is taken again.
        verdict = 'changed'
      end
    end
  end
  result[#result + 1] = verdict
end
return write()`;

/** ARGV: the number of the claim, then for each key whether its copy goes, too. → of each: settled, lost */
export const SETTLE = `${ON_TARGET}
for i = 3, #KEYS do
  local key, mine, digest = KEYS[i], entry(i)
  if mine == ARGV[2] then
    if ARGV[i] == 'drop' and digest ~= '' and redis.call('EXISTS', key) == 1 and digest == digestOf(key) then
      redis.call('UNLINK', key)
    end
    strike(key)
    result[#result + 1] = 'settled'
  else
    result[#result + 1] = 'lost'
  end
end
return write()`;

/** ARGV: the number of the taking. Strikes orphans off the list of their old owner, once they are none any more. */
export const FREE = `${ON_SOURCE}
for i = 3, #KEYS do
  if listed[i] == ARGV[2] then strike(KEYS[i]) end
end
return write()`;

/** → of each key: 1 if its old owner has it, or somebody has taken it and not finished; otherwise 0 */
export const LOOK = `${ON_SOURCE}
for i = 3, #KEYS do
  local here = listed[i] or redis.call('EXISTS', KEYS[i]) == 1
  result[#result + 1] = here and 1 or 0
end
return result`;
