-- Lets a script write on a full node. Redis refuses the first write of a script there, unless the command cannot grow anything,
-- and refuses no later one. Scripts that only hand keys over, or free memory in the end, use this.
--
-- KEYS[1]  the hash of the state of the node

redis.call('HDEL', KEYS[1], '')
