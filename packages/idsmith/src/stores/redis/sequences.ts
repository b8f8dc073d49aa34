import { StoreError } from '../../errors.js';
import { show } from '../../options.js';
import { type Evaluate, ON_MASTER } from '../../redis/evaluate.js';
import { type SequenceRow, UNMARKED } from '../../sequence/blocks.js';
import type { SequenceRows } from '../../sequence/rows.js';
import { decodeRow, encodeDefinition } from '../definition.js';

const FORGOTTEN = 'forgotten';

// ARGV: trust, the definition before and after, the mark before and after (empty for an allocation), the server that was read
// from (empty unless vouched), then what each script needs.
//
// ARGV[1] says what becomes of a row that was stamped by another server, or by this one before a restart: `forgetful`,
// it may be older than what was given out, and is not touched; `durable`, it is not; `vouched`, somebody answers for it.
const CHANGE = `${ON_MASTER}
local trust = ARGV[1]
local definition, next, stamp, mark = unpack(redis.call('HMGET', KEYS[1], 'definition', 'next', 'server', 'mark'))
if not definition then return '' end
if trust == 'forgetful' and stamp ~= server then return '${FORGOTTEN}' end
if trust == 'vouched' and ARGV[6] ~= server then return '${FORGOTTEN}' end
if ARGV[4] ~= '' then
  if (mark or '${UNMARKED}') ~= ARGV[4] then return '' end
end
`;

// What a change that is marked puts, once nothing stands in its way.
const MARK = `
if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'mark', ARGV[5]) end
if trust == 'vouched' then redis.call('HSET', KEYS[1], 'server', server) end
`;

const SWAP = `${CHANGE}
if definition ~= ARGV[2] or next ~= ARGV[7] then return '' end
redis.call('HSET', KEYS[1], 'definition', ARGV[3], 'next', ARGV[8])
${MARK}
return next`;

// Lua's numbers are doubles: those of 64 bits stay text, which HINCRBY adds up exactly.
const ADVANCE = `${CHANGE}
local function less(a, b)
  local negative = string.sub(a, 1, 1) == '-'
  if negative ~= (string.sub(b, 1, 1) == '-') then return negative end
  if negative then a, b = b, a end
  if #a ~= #b then return #a < #b end
  return a < b
end
if definition ~= ARGV[2] or less(next, ARGV[7]) or less(ARGV[8], next) then return '' end
redis.call('HINCRBY', KEYS[1], 'next', ARGV[9])
if definition ~= ARGV[3] then redis.call('HSET', KEYS[1], 'definition', ARGV[3]) end
${MARK}
return next`;

const INSERT = `${ON_MASTER}
local definition = redis.call('HGET', KEYS[1], 'definition')
if definition then return definition end
redis.call('HSET', KEYS[1], 'definition', ARGV[1], 'next', ARGV[2], 'server', server)
return ''`;

const READ = `${ON_MASTER}
local row = redis.call('HMGET', KEYS[1], 'definition', 'next', 'mark')
return { row[1], row[2], row[3], server }`;

const DELETE = `${ON_MASTER}
local definition = redis.call('HGET', KEYS[1], 'definition')
if not definition or string.match(definition, '"generation":(%d+)') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

const REGISTER = `return redis.call('SADD', KEYS[1], ARGV[1])`;
const UNREGISTER = `return redis.call('SREM', KEYS[1], ARGV[1])`;
const REGISTERED = `${ON_MASTER}
return redis.call('SMEMBERS', KEYS[1])`;

/**
 * A Cluster cannot be searched for keys, so all rows are listed in a set as well. A row has an entry of its own there,
 * with its generation, made before it and removed after it: there is no row without its entry, whoever defines and removes
 * sequences of that name at the same time. An entry without its row is what a crash leaves.
 */
const REGISTER_KEY = 'idsmith:sequences';

/** Rows in Redis: a hash for each, so that those of a Cluster are spread over its nodes. */
export function redisRows(evaluate: Evaluate, durable: boolean): SequenceRows {
  /** The replication id of the server that each row was read from: who vouches for a row does so for what that one has. */
  const servers = new WeakMap<SequenceRow, string>();
  const register = (row: SequenceRow) =>
    evaluate('listing a sequence', REGISTER, REGISTER_KEY, entryOf(row.name, row.generation));
  const unregister = (name: string, generation: number) =>
    evaluate('unlisting a sequence', UNREGISTER, REGISTER_KEY, entryOf(name, generation));

  async function read(name: string): Promise<SequenceRow | undefined> {
    const reply = await evaluate(`reading sequence ${show(name)}`, READ, keyOf(name));
    const [definition, next, mark, server] = reply as unknown[];
    if (!definition) return undefined;
    const row = decodeRow(name, String(definition), String(next), mark ? String(mark) : undefined);
    servers.set(row, String(server));
    return row;
  }

  /** `next` as it was before the script has changed the row; `undefined` if it has not. */
  async function change(
    script: string,
    from: SequenceRow,
    to: SequenceRow,
    vouched: boolean,
    args: bigint[],
  ) {
    const { name } = from;
    // The set may be on another node of a Cluster, which may have forgotten its own part.
    const isRenamed = from.generation !== to.generation;
    if (vouched || isRenamed) await register(to);
    const trust = vouched ? 'vouched' : durable ? 'durable' : 'forgetful';
    const marks = from === to ? ['', ''] : [from.mark, to.mark];
    const server = vouched ? (servers.get(from) ?? '') : '';
    const definitions = [encodeDefinition(from), encodeDefinition(to)];
    const texts = [trust, ...definitions, ...marks, server, ...args.map(String)];
    const before = String(await evaluate(`changing sequence ${show(name)}`, script, keyOf(name), ...texts));
    if (isRenamed && before !== FORGOTTEN) await unregister(name, (before === '' ? to : from).generation);
    if (before === FORGOTTEN) throw forgotten(name);
    return before === '' ? undefined : BigInt(before);
  }

  return {
    async insert(row) {
      const { name, generation } = row;
      await register(row);
      const args = [encodeDefinition(row), String(row.next)];
      const found = String(await evaluate(`defining sequence ${show(name)}`, INSERT, keyOf(name), ...args));
      // A client that sends commands again may find its own row.
      if (found === '' || decodeRow(name, found, '0').generation === generation) return true;
      await unregister(name, generation);
      return false;
    },

    read,

    async list() {
      const entries = (await evaluate('listing sequences', REGISTERED, REGISTER_KEY)) as unknown[];
      const names = new Set(entries.map((entry) => nameOf(String(entry))));
      const rows = await Promise.all([...names].map(read));
      return rows.filter((row) => row !== undefined);
    },

    async swap(expected, next, vouched = false) {
      const args = [expected.next, next.next];
      return (await change(SWAP, expected, next, vouched, args)) !== undefined;
    },

    async delete({ name, generation }) {
      const args = [keyOf(name), String(generation)] as const;
      const deleted = Number(await evaluate(`removing sequence ${show(name)}`, DELETE, ...args));
      if (deleted === 1) await unregister(name, generation);
      return deleted === 1;
    },

    async advance(from, { delta, low, high }, to, vouched = false) {
      if (from.exhausted) return undefined;
      return change(ADVANCE, from, to, vouched, [low, high, delta]);
    },
  };
}

// The braces make Cluster choose the slot by the name alone; it has none of its own.
const keyOf = (name: string) => `idsmith:sequence:{${encodeURIComponent(name)}}`;

const entryOf = (name: string, generation: number) => `${generation}:${name}`;
const nameOf = (entry: string) => entry.slice(entry.indexOf(':') + 1);

function forgotten(name: string): StoreError {
  return new StoreError(
    `redis store: this Redis has restarted, failed over or begun to replicate, and may have forgotten ids that sequence ` +
      `${show(name)} has given out; alter its next to go on beyond all of them, or keep it in a Redis that is durable`,
  );
}
