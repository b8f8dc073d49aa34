-- Removes all records of a namespace that `idsmith verify` has made.
--
-- KEYS[1]  the hash of the namespace
-- Returns  the number of hashes that were removed

return redis.call('DEL', KEYS[1])
