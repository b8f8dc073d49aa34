-- Reads the marker of the store's schema.
--
-- KEYS[1]  the marker
-- Returns  its text, or nothing

return redis.call('GET', KEYS[1])
