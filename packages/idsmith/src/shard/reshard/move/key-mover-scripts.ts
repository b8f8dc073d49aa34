// One key goes from its old owner O to its new owner N in five steps, each a script for many keys:
//
//   CLAIM on N    notes the key under a new number; what is there is nothing, or a copy of ours, or somebody's value
//   TAKE on O     reads value and TTL, and notes the key under a new number
//   PUT on N      writes the copy, if the number of the claim is still the latest and nobody has written there
//   DROP on O     deletes the key, if the number of the taking is still the latest and the key is what was taken
//   SETTLE on N   strikes the key off the list
//
// docs/resharding.md says why no key is lost, doubled or brought back by that.
//
// KEYS: the state of the node, its list, then the keys. ARGV: the move, then what each step needs. What there is to say
// of each key is one letter in a text with one for each: hundreds of arguments and replies would cost more than the rest.

const BEGIN = `
local state, list = KEYS[1], KEYS[2]
local now = redis.call('HMGET', state, 'move', 'phase')
local isOurs, phase = now[1] == ARGV[1], now[2]
`;

/** The old owner gives keys away once it has begun there. */
const ON_SOURCE = `${BEGIN}
if not isOurs or (phase ~= 'moving' and phase ~= 'done') then return { 'stale' } end
`;

/** The new one takes them also before it begins to give away its own, which is when no process works there as before. */
const ON_TARGET = `${BEGIN}
if not isOurs and (phase == 'preparing' or phase == 'moving') then return { 'stale' } end
`;

const COMMON = `
local SOME = 1000
-- What the list says of all keys: one call for many keys costs little more than one for a key.
local function readList()
  local listed = {}
  for i = 3, #KEYS, SOME do
    local texts = redis.call('HMGET', list, unpack(KEYS, i, math.min(i + SOME - 1, #KEYS)))
    for j = 1, #texts do listed[i + j - 1] = texts[j] end
  end
  return listed
end
local entries, gone = {}, {}
local function note(key, text)
  entries[#entries + 1] = key
  entries[#entries + 1] = text
end
local function strike(key) gone[#gone + 1] = key end
local function writeList()
  for i = 1, #entries, 2 * SOME do
    redis.call('HSET', list, unpack(entries, i, math.min(i + 2 * SOME - 1, #entries)))
  end
  for i = 1, #gone, SOME do redis.call('HDEL', list, unpack(gone, i, math.min(i + SOME - 1, #gone))) end
end
-- Whether the node has none of the keys, as a new owner has as a rule.
local function hasNone()
  for i = 3, #KEYS, SOME do
    if redis.call('EXISTS', unpack(KEYS, i, math.min(i + SOME - 1, #KEYS))) > 0 then return false end
  end
  return true
end
-- On the new owner: '<number> <digest>' as its two parts; the digest is empty until there is a copy. A number with which
-- a copy was written has a '!' after it: nothing is written with it again, should the command come twice.
local function parts(text)
  if not text then return nil end
  return string.match(text, '^(%S+) (.*)$')
end
local function isCopy(key, digest)
  return digest and digest ~= '' and digest == redis.sha1hex(redis.call('DUMP', key))
end
local said = {}
local function say(letter) said[#said + 1] = letter end
`;

/** ARGV: a name of the caller. → the number; of each key: f(ree), c(opy), t(aken) */
export const CLAIM = `${ON_TARGET}${COMMON}
local number = ARGV[2] .. '.' .. redis.call('HINCRBY', state, 'claims', 1)
local none = hasNone()
local listed = none and {} or readList()
for i = 3, #KEYS do
  local key = KEYS[i]
  if none or redis.call('EXISTS', key) == 0 then
    note(key, number .. ' ')
    say('f')
  else
    local _, digest = parts(listed[i])
    if isCopy(key, digest) then
      note(key, number .. ' ' .. digest)
      say('c')
    else
      strike(key)
      say('t')
    end
  end
end
writeList()
return { number, table.concat(said) }`;

/**
 * ARGV: a name of the caller, how many bytes are enough. → the number; of each key: a(bsent); o(rphan), which is absent
 * although it was taken; l(ater), when it has become too much; t(aken). Then of those that were taken the length, TTL,
 * digest and expiry, and all the values as one.
 */
export const TAKE = `${ON_SOURCE}${COMMON}
local number = ARGV[2] .. '.' .. redis.call('HINCRBY', state, 'takings', 1)
local left = tonumber(ARGV[3])
local time = redis.call('TIME')
local ms = time[1] * 1000 + math.floor(time[2] / 1000)
local rows, values = {}, {}
for i = 3, #KEYS do
  local key = KEYS[i]
  if left <= 0 then
    say('l')
  else
    local value = redis.call('DUMP', key)
    if value then
      local ttl = redis.call('PTTL', key)
      left = left - #value
      local expiry = ttl < 0 and '-1' or string.format('%.0f', ms + ttl)
      rows[#rows + 1] = #value .. ' ' .. ttl .. ' ' .. redis.sha1hex(value) .. ' ' .. expiry
      values[#values + 1] = value
      note(key, number)
      say('t')
    elseif redis.call('HEXISTS', list, key) == 1 then
      note(key, number)
      say('o')
    else
      say('a')
    end
  end
end
writeList()
return { number, table.concat(said), table.concat(rows, '\\n'), table.concat(values) }`;

/**
 * ARGV: the number of the claim, length and TTL (0: none) of each key's value, and all the values as one. → of each key:
 * c(opied), t(aken), l(ost), e(rror); and the last error
 */
export const PUT = `${ON_TARGET}${COMMON}
local number, values, at, trouble = ARGV[2], ARGV[4], 1, ''
local none, listed = hasNone(), readList()
local nextRow = string.gmatch(ARGV[3], '(%d+) (%d+)')
for i = 3, #KEYS do
  local key, size, ttl = KEYS[i], nextRow()
  local value = string.sub(values, at, at + size - 1)
  at = at + size
  local mine, digest = parts(listed[i])
  if mine ~= number then
    say('l')
  elseif not none and redis.call('EXISTS', key) == 1 and not isCopy(key, digest) then
    strike(key)
    say('t')
  else
    local answer = redis.pcall('RESTORE', key, ttl, value, 'REPLACE')
    if answer['err'] then
      trouble = answer['err'] .. ' (' .. key .. ')'
      say('e')
    else
      -- A value that has expired on the way is gone already.
      local copy = redis.call('DUMP', key)
      note(key, number .. '! ' .. (copy and redis.sha1hex(copy) or ''))
      say('c')
    end
  end
end
writeList()
return { table.concat(said), trouble }`;

/** ARGV: the number of the taking, digest and expiry of each key. → of each: d(ropped), c(hanged), o(rphan), l(ost) */
export const DROP = `${ON_SOURCE}${COMMON}
local number, listed = ARGV[2], readList()
local time = redis.call('TIME')
local ms = time[1] * 1000 + math.floor(time[2] / 1000)
local nextRow = string.gmatch(ARGV[3], '(%S+) (%S+)')
for i = 3, #KEYS do
  local key, digest, expiry = KEYS[i], nextRow()
  local value = listed[i] == number and redis.call('DUMP', key)
  if listed[i] ~= number then
    say('l')
  elseif not value then
    say('o')
  else
    local ttl, at = redis.call('PTTL', key), tonumber(expiry)
    local same = (ttl < 0 and at < 0) or (ttl >= 0 and at >= 0 and math.abs(ms + ttl - at) < 100)
    if same and redis.sha1hex(value) == digest then
      redis.call('UNLINK', key)
      strike(key)
      say('d')
    else
      -- Stays on the list: there is a copy, which has to go if the key is deleted before it is taken again.
      say('c')
    end
  end
end
writeList()
return { table.concat(said) }`;

/** ARGV: the number of the claim; of each key d(rop) if its copy goes, too, or k(eep). → of each: s(ettled), l(ost) */
export const SETTLE = `${ON_TARGET}${COMMON}
local listed = readList()
for i = 3, #KEYS do
  local key, mine, digest = KEYS[i], parts(listed[i])
  if mine == ARGV[2] or mine == ARGV[2] .. '!' then
    local goes = string.sub(ARGV[3], i - 2, i - 2) == 'd'
    if goes and redis.call('EXISTS', key) == 1 and isCopy(key, digest) then redis.call('UNLINK', key) end
    strike(key)
    say('s')
  else
    say('l')
  end
end
writeList()
return { table.concat(said) }`;

/** ARGV: the number of the taking. Strikes orphans off the list of their old owner, once they are none any more. */
export const FREE = `${ON_SOURCE}${COMMON}
local listed = readList()
for i = 3, #KEYS do
  if listed[i] == ARGV[2] then strike(KEYS[i]) end
end
writeList()
return { '' }`;

/** → of each key: h(ere) if its old owner has it, or somebody has taken it and not finished; otherwise a(bsent) */
export const LOOK = `${ON_SOURCE}${COMMON}
local listed = readList()
for i = 3, #KEYS do
  say((listed[i] or redis.call('EXISTS', KEYS[i]) == 1) and 'h' or 'a')
end
return { table.concat(said) }`;
