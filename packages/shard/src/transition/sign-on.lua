-- Signs a process on at a node that it uses as an old or a new owner, or renews its heartbeat. After an announcement, no new
-- process can sign on for the use that is about to end.
--
-- ARGV[2]  the id of the process
-- ARGV[3]  `member:` for a process that uses the node as an old owner, `user:` for one that uses it as a new owner
-- Returns  the phase, the description, 1 if checked, the round

--- @include "reshard-state"

evenWhenFull()
local field = ARGV[3] .. ARGV[2]
local isOpen
if ARGV[3] == 'member:' then
  isOpen = phase == 'before' or phase == 'returning' or phase == 'aborted'
else
  isOpen = phase == 'before' or phase == 'mismatch' or phase == 'preparing' or phase == 'moving'
end
if isChecked and (isOpen or redis.call('HEXISTS', state, field) == 1) then redis.call('HSET', state, field, clock) end
return answer()
