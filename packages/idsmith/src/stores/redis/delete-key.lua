-- Deletes a key.
--
-- KEYS[1]  the key
-- Returns  1 if the key was deleted, 0 if it was absent

return redis.call('DEL', KEYS[1])
