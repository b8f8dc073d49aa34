-- Begins an announced resharding, if no process uses the old node any more. Signs dead processes off.
--
-- ARGV[2]  the silence after which a process counts as dead, ms
-- Returns  the phase, the description, the number of processes that use the old node, the number of dead processes

--- @include "reshard-state"

-- Counts the processes that are signed on, and removes the dead ones.
local function countMembers(timeout)
  local alive, dead = 0, 0
  local fields = redis.call('HGETALL', state)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, 7) == 'member:' then
      if clock - tonumber(fields[i + 1]) <= timeout then
        alive = alive + 1
      else
        dead = dead + 1
        redis.call('HDEL', state, fields[i])
      end
    end
  end
  return alive, dead
end

local alive, dead = 0, 0
if phase == 'preparing' then
  alive, dead = countMembers(tonumber(ARGV[2]))
  if alive == 0 then
    redis.call('HSET', state, 'phase', 'moving')
    redis.call('HDEL', state, 'since')
    phase = 'moving'
  else
    redis.call('HSET', state, 'since', clock)
  end
end
return { phase, about or '', alive, dead }
