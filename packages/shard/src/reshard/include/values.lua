-- Reads the values of keys on the source in blocks. A block has one digest, which covers all of its values and their sizes. If one of
-- the values changes, all keys of the block count as changed.

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

-- Tells whether a key of this server may have a TTL.
local keyspace = redis.call('INFO', 'keyspace')
local hasExpiries = not string.find(keyspace, 'expires=0') or string.find(keyspace, 'expires=[1-9]') ~= nil

-- Reads the keys from index `first` to `last`. Returns their values, false for an absent key, and by row the times at
-- which they expire, for those that do.
local function readBlock(first, last)
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
