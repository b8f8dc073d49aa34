-- Sets `clock`: the time of this Redis, ms since 1970.

local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
