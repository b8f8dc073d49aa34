/** The arguments of a command that are keys. */
export type KeyPositions = 'first' | 'second' | 'first two' | 'all' | 'all but last' | 'script' | undefined;

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
export function keyPositionsOf(method: string): KeyPositions {
  const command = method.toLowerCase().replace(/buffer$/, '');
  if (FIRST.test(command)) return 'first';
  if (SECOND.test(command)) return 'second';
  if (TWO.test(command)) return 'first two';
  if (ALL.test(command)) return 'all';
  if (ALL_BUT_LAST.test(command)) return 'all but last';
  return SCRIPT.test(command) ? 'script' : undefined;
}
