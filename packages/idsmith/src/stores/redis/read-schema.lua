-- Reads the marker of the store's schema, and which keys the server removes when it is full.
--
-- KEYS[1]  the marker
-- Returns  the text of the marker, or nothing; the policy of evictions with the limit of memory in bytes, or nothing if this user may not know

local memory = redis.pcall('INFO', 'memory')
if type(memory) == 'table' then memory = '' end
local limit = string.match(memory, 'maxmemory:(%d+)')
local policy = string.match(memory, 'maxmemory_policy:([%w-]+)')
return { redis.call('GET', KEYS[1]), limit and policy and (policy .. ' ' .. limit) or '' }
