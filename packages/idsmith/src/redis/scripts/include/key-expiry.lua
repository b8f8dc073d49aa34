-- Reads the time at which a key expires. A time says more than a TTL, which depends on when it is read.

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
