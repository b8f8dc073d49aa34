import * as scripts from '../../../../src/redis/scripts.ts';
import type { NodeConnection } from '../../../../src/shard/reshard/node-connection.ts';
import type { RedisKey } from '../../../../src/shard/reshard/redis-key.ts';

const NAMES = new Map(Object.entries(scripts).map(([name, script]) => [script as string, name]));

/** The name of a script, like `CLAIM_KEYS`. */
export const nameOf = (script: string) => NAMES.get(script) as string;

/** A reply, or what makes one from the arguments of a script and the number of its keys. */
export type Reply = readonly unknown[] | ((args: readonly unknown[], count: number) => readonly unknown[]);

/** One run of a script. */
export interface Call {
  readonly script: string;
  readonly keys: readonly unknown[];
  readonly args: readonly unknown[];
}

/** The steps of all nodes in their order. A step that begins while others are under way is marked with their number: `o TAKE_KEYS +1`. */
export class StepLog {
  readonly entries: string[] = [];
  underWay = 0;

  /** Notes a step, and answers after some turns, as a server does. So a step that nobody waits for is seen. */
  async step<T>(entry: string, answer: () => T): Promise<T> {
    this.entries.push(this.underWay === 0 ? entry : `${entry} +${this.underWay}`);
    this.underWay++;
    try {
      for (let i = 0; i < 10; i++) await null;
      return answer();
    } finally {
      this.underWay--;
    }
  }
}

/** A node that gives the replies that a test wants. `usual-replies.test.ts` compares the usual ones with those of a real Redis. */
export class ScriptedNode {
  readonly id: string;
  readonly isCluster: boolean;
  readonly calls: Call[] = [];
  /** Lists of keys in the order in which steps were given them. */
  readonly lists: (readonly RedisKey[])[] = [];
  /** Entries in the list of the node, by key. */
  readonly entries = new Map<RedisKey, string>();
  readonly #log: StepLog;
  readonly #replies: Map<string, Reply[]>;

  constructor(log: StepLog, id: string, usual: Readonly<Record<string, Reply>>, isCluster = false) {
    this.#log = log;
    this.id = id;
    this.isCluster = isCluster;
    this.#replies = new Map(Object.entries(usual).map(([name, reply]) => [name, [reply]]));
  }

  get address(): string {
    return `${this.id}:1`;
  }

  get connection(): NodeConnection {
    return this as unknown as NodeConnection;
  }

  /** Gives these replies to a script, one after the other. The last one stays. */
  answer(script: string, ...replies: Reply[]): this {
    this.#replies.set(script, replies);
    return this;
  }

  /** The arguments of all runs of a script. */
  argsOf(script: string): (readonly unknown[])[] {
    return this.calls.filter((call) => call.script === script).map(({ args }) => args);
  }

  run(_operation: string, script: string, keys: readonly unknown[], args: readonly unknown[] = []) {
    const name = nameOf(script);
    this.calls.push({ script: name, keys, args });
    const replies = this.#replies.get(name) ?? [];
    const reply = (replies.length > 1 ? replies.shift() : replies[0]) as Reply;
    const packed = String(args[3] ?? '');
    const count = packed === '' ? keys.length - 2 : packed.split(',').length;
    return this.#log.step(`${this.id} ${name}`, () =>
      typeof reply === 'function' ? reply(args, count) : reply,
    );
  }

  command(_operation: string, ...parts: unknown[]) {
    this.calls.push({ script: String(parts[0]), keys: [], args: parts.slice(1) });
    const reply = this.#replies.get(String(parts[0]))?.[0] ?? [];
    return this.#log.step(`${this.id} ${parts[0]}`, () => reply);
  }

  async members() {
    return [{ id: 'm1', address: 'm1:1', isMaster: true }];
  }

  /** Keys of a cluster with the same first letter are in one slot. */
  groupsOf(keys: readonly RedisKey[]): (readonly RedisKey[])[] {
    if (!this.isCluster) return keys.length === 0 ? [] : [keys];
    return [...new Set(keys.map((key) => key[0]))].map((slot) => keys.filter((key) => key[0] === slot));
  }

  placeOf(list: string, keys: readonly RedisKey[]): readonly [string, string] {
    return this.isCluster ? [`state{${keys[0]?.[0]}}`, `${list}{${keys[0]?.[0]}}`] : ['state', list];
  }

  keyArguments(keys: readonly RedisKey[]): readonly [readonly RedisKey[], string] {
    this.lists.push(keys);
    return this.isCluster ? [keys, ''] : [[], keys.join(',')];
  }

  entriesOf(_list: string, keys: readonly RedisKey[]) {
    return this.#log.step(`${this.id} entries of ${keys.join(',')}`, () =>
      keys.map((key) => this.entries.get(key) ?? null),
    );
  }
}
