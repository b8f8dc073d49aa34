-- Announces a resharding, unless it has begun. A resharding that is done stays done. One whose keys go back stays so.
--
-- ARGV[2]  a description for people
-- ARGV[3]  the round
-- ARGV[4]  the settings, as JSON
-- ARGV[5]  the names of nodes that are lost for good, as JSON
-- ARGV[6]  the replication id of the server whose state was checked before
-- Returns  the phase, or `restarted` on another server; the description of the resharding that was stored before, 1 if checked, the round

--- @include "reshard-state"
--- @include "even-when-full"

if server ~= ARGV[6] then return { 'restarted', about or '', 0 } end
if phase == 'before' or phase == 'misfit' or phase == 'preparing' or phase == 'aborted' then
  if phase ~= 'preparing' or round ~= ARGV[3] then
    -- Numbers of an earlier resharding say nothing about this one.
    local fields = redis.call('HKEYS', state)
    for _, field in ipairs(fields) do
      if field == 'puts' or field == 'drops' or string.find(field, '^put:') or string.find(field, '^drop:') then
        redis.call('HDEL', state, field)
      end
    end
  end
  if phase ~= 'preparing' then redis.call('HSET', state, 'was', storedPhase and storedId .. ' ' .. storedPhase or '') end
  redis.call('HSET', state, 'move', reshardId, 'phase', 'preparing', 'since', clock, 'about', ARGV[2], 'round', ARGV[3],
    'settings', ARGV[4], 'server', server)
  phase, isChecked = 'preparing', true
end
if phase ~= 'other' then redis.call('HSET', state, 'gone', ARGV[5]) end
return answer()
