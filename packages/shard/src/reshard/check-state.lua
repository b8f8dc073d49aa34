-- Records that the hash of a node has been compared with the other nodes and is complete. Raises the numbers that the other
-- nodes know to be higher, if their loss was accepted.
--
-- ARGV[2]  the replication id of the server that the hash was read from
-- ARGV[3]  the least number of PUTs
-- ARGV[4]  the least number of DROPs
-- Returns  the phase, the description, 1 if checked, the round

--- @include "reshard-state"

evenWhenFull()
if server == ARGV[2] then
  redis.call('HSET', state, 'server', server)
  for i, field in ipairs({ 'puts', 'drops' }) do
    local least = tonumber(ARGV[i + 2])
    if tonumber(redis.call('HGET', state, field) or 0) < least then redis.call('HSET', state, field, ARGV[i + 2]) end
  end
  isChecked = true
end
return answer()
