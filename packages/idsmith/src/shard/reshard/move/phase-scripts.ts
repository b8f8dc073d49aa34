// The state of a node is a hash:
//
//   move        the fingerprint of the resharding; `about` describes it for people
//   phase       preparing: about to begin · moving: keys are moved · done: all keys have been moved
//   since       the time of the last PREPARE_RESHARD, ms
//   claims takings     the number of CLAIMs and TAKEs, so that no number is used twice
//   member:ID   a process that still uses the old node as before, and the time of its last heartbeat
//
// KEYS: the state. ARGV: the fingerprint, then the arguments of each script. Times are those of the node's own clock.

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

/** → the phase, and the description of the resharding that is under way */
export const READ_PHASE = `${PROLOGUE}
return answer()`;

/** ARGV: a description. Announces the resharding, unless it has begun. */
export const PREPARE_RESHARD = `${PROLOGUE}
if phase == 'before' or phase == 'preparing' then
  redis.call('HSET', state, 'move', move, 'phase', 'preparing', 'since', ms, 'about', ARGV[2])
  phase = 'preparing'
elseif phase == 'done' then
  redis.call('HSET', state, 'phase', 'moving')
  phase = 'moving'
end
return answer()`;

/** ARGV: the time after which a silent process counts as dead, ms. Begins if no process uses the old node. → also: alive, dead */
export const BEGIN_RESHARD = `${PROLOGUE}
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

/** Takes the announcement back. */
export const CANCEL_RESHARD = `${PROLOGUE}
if phase == 'preparing' then redis.call('HDEL', state, 'move', 'phase', 'since', 'about') end
return answer()`;

/** Records that all keys have been moved. */
export const FINISH_RESHARD = `${PROLOGUE}
if phase == 'moving' then redis.call('HSET', state, 'phase', 'done') end
return answer()`;

/** ARGV: a process. Signs the process on, or renews its heartbeat. After the announcement, no new process can sign on. */
export const SIGN_ON = `${PROLOGUE}
local field = 'member:' .. ARGV[2]
if phase == 'before' or redis.call('HEXISTS', state, field) == 1 then redis.call('HSET', state, field, ms) end
return answer()`;

/** ARGV: a process. Signs the process off: it no longer uses the old node as before. */
export const SIGN_OFF = `${PROLOGUE}
redis.call('HDEL', state, 'member:' .. ARGV[2])
return answer()`;
