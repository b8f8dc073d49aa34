// A key goes from its old owner O to its new owner N in five steps. Each step is one script for many keys:
//
//   CLAIM on N    lists the key with a new claim number. N has no value, or a copy from a mover, or a value of its own
//   TAKE on O     reads value and TTL, and lists the key with a new take number
//   PUT on N      writes the copy, if the claim number is still the latest and nobody has written a value there
//   DROP on O     deletes the key, if the take number is still the latest and the value is the one that was taken
//   SETTLE on N   removes the key from the list
//
// docs/resharding.md proves that no key is lost, doubled or brought back.
//
// KEYS: the state of the node, its list, then the keys. ARGV: the fingerprint of the resharding, then the arguments of each
// step. The reply has one text with one letter for each key, because hundreds of separate replies would cost more than the
// rest of the work.

const BEGIN = `
local state, list = KEYS[1], KEYS[2]
local now = redis.call('HMGET', state, 'move', 'phase')
local isOurs, phase = now[1] == ARGV[1], now[2]
`;

/** The old owner gives keys away once the resharding has begun there. */
const ON_SOURCE = `${BEGIN}
if not isOurs or (phase ~= 'moving' and phase ~= 'done') then return { 'stale' } end
`;

/** The new owner takes keys even before the resharding begins there. */
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

/** ARGV: the name of the mover. → the claim number; for each key: f(ree), c(opy), t(aken: N has a value of its own) */
export const CLAIM_KEYS = `${ON_TARGET}${COMMON}
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
 * ARGV: the name of the mover, the number of bytes that are enough. → the take number; for each key: a(bsent); o(rphan: absent
 * although a mover had taken it); l(ater: enough bytes already); t(aken). Then, for each taken key, its length, TTL, digest
 * and expiry, and all values joined.
 */
export const TAKE_KEYS = `${ON_SOURCE}${COMMON}
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
 * ARGV: the claim number, length and TTL (0: none) of each value, and all values joined. → for each key: c(opied),
 * t(aken: N has a value of its own), l(ost: another mover has claimed the key), e(rror); and the last error
 */
export const PUT_KEYS = `${ON_TARGET}${COMMON}
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

/** ARGV: the take number, digest and expiry of each key. → for each key: d(ropped), c(hanged), o(rphan), l(ost) */
export const DROP_KEYS = `${ON_SOURCE}${COMMON}
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

/** ARGV: the claim number; for each key d(elete the copy) or k(eep it). → for each key: s(ettled), l(ost) */
export const SETTLE_KEYS = `${ON_TARGET}${COMMON}
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

/** ARGV: the take number. Removes orphans from the list of their old owner, after their copies are gone. */
export const FREE_ORPHANS = `${ON_SOURCE}${COMMON}
local listed = readList()
for i = 3, #KEYS do
  if listed[i] == ARGV[2] then strike(KEYS[i]) end
end
writeList()
return { '' }`;

/** → for each key: h(ere) if the old owner has the key, or a mover has taken it and not finished; otherwise a(bsent) */
export const FIND_KEYS = `${ON_SOURCE}${COMMON}
local listed = readList()
for i = 3, #KEYS do
  say((listed[i] or redis.call('EXISTS', KEYS[i]) == 1) and 'h' or 'a')
end
return { table.concat(said) }`;
