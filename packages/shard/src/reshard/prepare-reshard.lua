-- Announces a resharding, unless it has begun in this round. A resharding that is done stays done. One whose keys go back stays
-- so. A node that came back from a crash with an earlier round joins this one. If it is known to have moved keys in this round,
-- it begins at once: an announcement could be taken back, and the node would be used as if it had all of its keys.
--
-- ARGV[2]  a description for people
-- ARGV[3]  the round
-- ARGV[4]  the settings, as JSON
-- ARGV[5]  the identities of nodes that are lost for good, as JSON
-- ARGV[6]  the replication id of the server whose state was checked before
-- ARGV[7]  `begun` if keys have been moved from or to this node in this round; otherwise empty
-- Returns  the phase, or `restarted` on another server, or `outdated` if the node knows a later round, or this one as given up or
--          as that of another resharding; the description of the resharding that was stored before, 1 if checked, the round

--- @include "reshard-state"

evenWhenFull()
if server ~= ARGV[6] then return { 'restarted', about or '', 0 } end
if phase == 'other' then return answer() end
local given = tonumber(ARGV[3])
local isUsed = phase == 'aborted' or redis.call('HGET', state, 'move') ~= reshardId
if given < knownRound or (given == knownRound and isUsed) then return { 'outdated', about or '', 0 } end
if given > knownRound or phase == 'before' or phase == 'mismatch' or phase == 'preparing' then
  if given > knownRound or phase ~= 'preparing' then
    -- Numbers of an earlier resharding say nothing about this one.
    local fields = redis.call('HKEYS', state)
    for _, field in ipairs(fields) do
      if field == 'puts' or field == 'drops' or string.find(field, '^put:') or string.find(field, '^drop:') then
        redis.call('HDEL', state, field)
      end
    end
  end
  if phase ~= 'preparing' then redis.call('HSET', state, 'was', storedPhase and storedId .. ' ' .. storedPhase or '') end
  if storedPhase and storedId ~= reshardId and not isTakenBack then redis.call('HSET', state, 'ended', knownRound) end
  phase, isChecked = ARGV[7] == 'begun' and 'moving' or 'preparing', true
  redis.call('HSET', state, 'move', reshardId, 'phase', phase, 'since', clock, 'about', ARGV[2], 'round', ARGV[3],
    'server', server)
  if phase == 'moving' then redis.call('HDEL', state, 'since') end
end
redis.call('HSET', state, 'gone', ARGV[5], 'settings', ARGV[4])
return answer()
