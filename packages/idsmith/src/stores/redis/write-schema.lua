-- Marks a store that has no marker of its schema.
--
-- KEYS[1]  the marker
-- ARGV[1]  its text
-- Returns  1 if the marker was written, otherwise 0

return redis.call('SETNX', KEYS[1], ARGV[1])
