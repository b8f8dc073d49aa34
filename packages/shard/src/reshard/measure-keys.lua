-- Measures the memory that keys use.
--
-- KEYS     the keys
-- Returns  bytes for each key; 0 for an absent key

local sizes = {}
for i, key in ipairs(KEYS) do sizes[i] = redis.call('MEMORY', 'USAGE', key) or 0 end
return sizes
