// A node's state, a hash:
//
//   move        which resharding it is, as a fingerprint of both rings, and `about` the same for people
//   phase       preparing: it is about to begin · moving: keys are moved · done: they have been
//   since       when it was last said that it is about to begin, ms
//   claims takings     how often, so that no number comes twice
//   member:ID   a process that works with its keys as before, and when it last said so
//
// KEYS: the state. ARGV: the move, then what each needs. Times are of the node's own clock.

const PROLOGUE = `
local state, move = KEYS[1], ARGV[1]
local time = redis.call('TIME')
local ms = time[1] * 1000 + math.floor(time[2] / 1000)
local is = redis.call('HMGET', state, 'move', 'phase', 'since', 'about')
local phase = 'before'
if is[1] and (is[2] == 'preparing' or is[2] == 'moving') and is[1] ~= move then phase = 'other'
elseif is[1] == move then phase = is[2] end
-- Whoever was about to begin has been silent for so long that it was ended.
if phase == 'preparing' and ms - tonumber(is[3]) > 3000 then phase = 'before' end
local function answer() return { phase, is[4] or '' } end
-- How many processes work as before; those that were silent too long count as gone, and are told apart.
local function members(lapse)
  local alive, lapsed = 0, 0
  local all = redis.call('HGETALL', state)
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 7) == 'member:' then
      if ms - tonumber(all[i + 1]) <= lapse then alive = alive + 1 else
        lapsed = lapsed + 1
        redis.call('HDEL', state, all[i])
      end
    end
  end
  return alive, lapsed
end
`;

/** → the phase, and what is under way */
export const PHASE = `${PROLOGUE}
return answer()`;

/** ARGV: what it is about. Says that it is about to begin, unless it has. */
export const PREPARE = `${PROLOGUE}
if phase == 'before' or phase == 'preparing' then
  redis.call('HSET', state, 'move', move, 'phase', 'preparing', 'since', ms, 'about', ARGV[2])
  phase = 'preparing'
elseif phase == 'done' then
  redis.call('HSET', state, 'phase', 'moving')
  phase = 'moving'
end
return answer()`;

/** ARGV: after how long a silence a process counts as gone, ms. Begins if nobody works as before. → also: alive, gone */
export const BEGIN = `${PROLOGUE}
local alive, lapsed = 0, 0
if phase == 'preparing' then
  alive, lapsed = members(tonumber(ARGV[2]))
  if alive == 0 then
    redis.call('HSET', state, 'phase', 'moving')
    redis.call('HDEL', state, 'since')
    phase = 'moving'
  else
    redis.call('HSET', state, 'since', ms)
  end
end
return { phase, is[4] or '', alive, lapsed }`;

/** Takes back that it is about to begin. */
export const CANCEL = `${PROLOGUE}
if phase == 'preparing' then redis.call('HDEL', state, 'move', 'phase', 'since', 'about') end
return answer()`;

export const FINISH = `${PROLOGUE}
if phase == 'moving' then redis.call('HSET', state, 'phase', 'done') end
return answer()`;

/** ARGV: a process. Notes that it works as before, as long as it may; once it has to end that, only while it does. */
export const ENTER = `${PROLOGUE}
local field = 'member:' .. ARGV[2]
if phase == 'before' or redis.call('HEXISTS', state, field) == 1 then redis.call('HSET', state, field, ms) end
return answer()`;

/** ARGV: a process. It no longer works as before. */
export const LEAVE = `${PROLOGUE}
redis.call('HDEL', state, 'member:' .. ARGV[2])
return answer()`;
