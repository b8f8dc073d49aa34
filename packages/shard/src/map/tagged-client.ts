import { InvalidOptionError } from 'idsmith/internal';
import { taggedName } from '../keys/slots.js';

type Method = (...args: unknown[]) => unknown;

/** Methods that begin a list of commands, or return a client with other settings. */
const DERIVING = /^(multi|pipeline|withTypeMapping|withCommandOptions|withAbortSignal|asap)$/i;

/** Groups of commands of modules in the package `redis`, like `client.json.get`. */
const MODULES = /^(json|bf|cf|cms|topK|tDigest|ts)$/;

/** The depth of arrays and objects that is searched for names. */
const MAX_DEPTH = 3;

/**
 * A client of a Redis Cluster for a key and its suffixed forms. Applications use the names that the keys have on a ring, `K-part`,
 * and the cluster gets the names with hash tags, `{K}-part`.
 *
 * @param stem the key without a suffix
 */
export function taggedClient<T>(client: T, stem: string, path = ''): T {
  const proxy = new Proxy(client as object, {
    get(target, property) {
      const value = Reflect.get(target, property, target);
      if (typeof property !== 'string') return value;
      if (MODULES.test(property) && typeof value === 'object' && value !== null)
        return taggedClient(value, stem, `${property}.`);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const answer = Reflect.apply(value as Method, target, taggedArguments(path + property, args, stem));
        if (answer === target) return proxy;
        return DERIVING.test(property) ? taggedClient(answer, stem) : answer;
      };
    },
  });
  return proxy as T;
}

/**
 * The arguments of a command with hash tags in the names of keys. Values stay as they are, even if they look like keys.
 *
 * @throws InvalidOptionError naming a command of which nobody knows the keys, if one may be a key with a suffix
 */
export function taggedArguments(method: string, args: readonly unknown[], stem: string): readonly unknown[] {
  if (!hasSuffixed(args, stem, 0)) return args;
  if (/^call(buffer)?$/i.test(method)) {
    const [command, ...rest] = args;
    return [command, ...taggedArguments(String(command), rest, stem)];
  }
  const tag = (value: unknown): unknown => tagged(value, stem);
  const tagFirst = ([first, ...rest]: readonly unknown[], count: number): unknown[] =>
    Array.isArray(first) && rest.every((arg) => typeof arg === 'function')
      ? [tagFirst(first, count), ...rest]
      : [tag(first), ...(count > 1 ? tagFirst(rest, count - 1) : rest)];
  switch (keyPositionsOf(method)) {
    case 'first':
      return tagFirst(args, 1);
    case 'second':
      return [args[0], ...tagFirst(args.slice(1), 1)];
    case 'first two':
      return tagFirst(args, 2);
    case 'all':
      return args.map((arg) => (Array.isArray(arg) ? arg.map(tag) : tag(arg)));
    case 'all but last':
      return args.map((arg, i) =>
        i === args.length - 1 ? arg : Array.isArray(arg) ? arg.map(tag) : tag(arg),
      );
    case 'script':
      return taggedScript(args, tag);
    default:
      throw new InvalidOptionError(
        `${method} must not be used with keys like ${stem}-… on a Redis Cluster: nobody can tell which arguments are keys. ` +
          `Use the client of the cluster (clientOf), where such a key is called {${stem}}-…`,
      );
  }
}

/** The arguments of a script: `(script, number of keys, ...)` of `ioredis`, or `(script, { keys })` of `redis`. */
function taggedScript(args: readonly unknown[], tag: (value: unknown) => unknown): readonly unknown[] {
  const [script, second, ...rest] = args;
  if (typeof second === 'object' && second !== null) {
    const { keys } = second as { keys?: readonly unknown[] };
    return [script, { ...second, ...(keys && { keys: keys.map(tag) }) }, ...rest];
  }
  return [script, second, ...rest.map((arg, i) => (i < Number(second) ? tag(arg) : arg))];
}

function tagged(value: unknown, stem: string): unknown {
  return isSuffixed(value, stem) ? taggedName(value as string | Uint8Array) : value;
}

function isSuffixed(value: unknown, stem: string): boolean {
  const begin = `${stem}-`;
  if (typeof value === 'string') return value.startsWith(begin);
  return value instanceof Uint8Array && String.fromCharCode(...value.subarray(0, begin.length)) === begin;
}

function hasSuffixed(value: unknown, stem: string, depth: number): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array)
    return isSuffixed(value, stem);
  if (depth > MAX_DEPTH) return false;
  return Object.values(value).some((item) => hasSuffixed(item, stem, depth + 1));
}

/** The arguments of a command that are keys. */
type KeyPositions = 'first' | 'second' | 'first two' | 'all' | 'all but last' | 'script' | undefined;

const TWO = /^(rename|renamenx|copy|smove|rpoplpush|lmove|lcs|zrangestore|geosearchstore|brpoplpush|blmove)$/;

/** Commands with a subcommand before their key. */
const SECOND = /^(xgroup|xinfo|object|memory)$/;

const ALL = /^(del|unlink|exists|touch|mget|pfcount|pfmerge|s(inter|union|diff)(store)?)$/;

const ALL_BUT_LAST = /^(b[lr]pop|bzpop(min|max))$/;

const SCRIPT = /^(eval|evalsha|fcall)(_?ro)?$/;

/** Commands and modules whose first argument is their only key. */
const FIRST = new RegExp(
  `^(${[
    'append|bitcount|bitfield(_?ro)?|bitpos|decr|decrby|dump|expire|expireat|expiretime|get|getbit|getdel|getex|getrange|getset',
    'incr|incrby|incrbyfloat|persist|pexpire|pexpireat|pexpiretime|psetex|pttl|restore|set|setbit|setex|setnx|setrange|strlen|substr',
    'ttl|type|h(del|exists|get|getall|getdel|getex|set|setex|incrby|incrbyfloat|keys|len|mget|mset|setnx|strlen|vals|randfield|scan)',
    'h(randfield|scan)(count|withvalues|countwithvalues|novalues)|h(p?expire(at|time)?|p?ttl|persist)|[hsz]scan(stream|iterator)',
    '[lr](push|pushx|pop|popcount)|l(index|insert|len|pos|poscount|range|rem|set|trim)|sadd|srem|scard|smembers|sismember|smismember',
    'spop|spopcount|srandmember|srandmembercount|sscan|z(add|addincr|card|count|incrby|lexcount|mscore|popmax|popmin|randmember)',
    'z(pop(max|min)count|randmembercount|range|rangewithscores|rev(range|rank|rangebylex|rangebyscore)|range(bylex|byscore)|rank)',
    'z(rangebyscorewithscores|rankwithscore|rem|remrangeby(lex|rank|score)|scan|score)|geo(add|dist|hash|pos|search|searchwith)',
    'x(ack|add|autoclaim|autoclaimjustid|claim|claimjustid|del|len|pending|pendingrange|range|revrange|trim|setid)|pfadd',
    'x(group|info)\\w+|object\\w+|memoryusage|(json|bf|cf|cms|topk|tdigest|ts)\\..*',
  ].join('|')})$`,
);

/** The arguments of a command that are keys; `undefined` if nobody knows. */
function keyPositionsOf(method: string): KeyPositions {
  const command = method.toLowerCase().replace(/buffer$/, '');
  if (FIRST.test(command)) return 'first';
  if (SECOND.test(command)) return 'second';
  if (TWO.test(command)) return 'first two';
  if (ALL.test(command)) return 'all';
  if (ALL_BUT_LAST.test(command)) return 'all but last';
  return SCRIPT.test(command) ? 'script' : undefined;
}
