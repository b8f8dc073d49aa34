-- Notes that a person has confirmed the registry: a name without an entry is new.
--
-- KEYS[1]  the registry
-- ARGV[1]  the present date, for people
-- Returns  the date of the first time

--- @include "on-master"

redis.call('HSETNX', KEYS[1], 'born', ARGV[1])
redis.call('HSET', KEYS[1], 'confirmed', server)
return redis.call('HGET', KEYS[1], 'born')
