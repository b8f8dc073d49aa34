-- Gives a resharding up on a node. No key leaves its old owner any more. Keys go back as soon as no process uses the node as
-- a new owner. Signs dead processes off. Any process may run this script once one node knows that the resharding is given up.
--
-- ARGV[2]  the silence after which a process counts as dead, ms
-- ARGV[3]  a description for people
-- ARGV[4]  the round that is given up. A later round goes on
-- ARGV[5]  the identities of nodes that are lost for good, as JSON; empty to leave them as they are
-- Returns  the phase, the description, the number of processes that use the new node, the number of dead processes

--- @include "reshard-state"

evenWhenFull()
local alive, dead = 0, 0
local given = tonumber(ARGV[4])
local isOurs = phase ~= 'other'
local hasNotBegun = phase == 'before' or phase == 'mismatch'
if isOurs and (knownRound < given or knownRound == given and hasNotBegun) then
  -- The announcement has not reached this node, or was cancelled here, or the node came back from a crash with an earlier round.
  redis.call('HSET', state, 'move', reshardId, 'about', ARGV[3], 'round', ARGV[4], 'server', server)
  phase = 'stopping'
end
if (phase == 'preparing' or phase == 'moving') and knownRound == given then phase = 'stopping' end
if phase == 'stopping' then
  alive, dead = countProcesses('user:', tonumber(ARGV[2]))
  if alive == 0 then phase = 'returning' end
  redis.call('HSET', state, 'phase', phase)
end
if ARGV[5] ~= '' and isOurs then redis.call('HSET', state, 'gone', ARGV[5]) end
return { phase, about or '', alive, dead }
