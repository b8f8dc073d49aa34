-- Removes an entry from the register of sequences.
--
-- KEYS[1]  the set of entries
-- ARGV[1]  the entry: `generation:name`
-- Returns  1 if the entry was removed, 0 if it was absent

return redis.call('SREM', KEYS[1], ARGV[1])
