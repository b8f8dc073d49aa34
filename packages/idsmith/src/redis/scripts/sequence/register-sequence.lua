-- Adds an entry to the register of sequences.
--
-- KEYS[1]  the set of entries
-- ARGV[1]  the entry: `generation:name`
-- Returns  1 if the entry was added, 0 if it was there

return redis.call('SADD', KEYS[1], ARGV[1])
