import { randomInt } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ShardMap } from '@idsmith/shard';
import {
  acquireLease,
  FlakeGenerator,
  type IdError,
  type Lease,
  LocalityGenerator,
  type Sequence,
  Sequences,
  type Store,
  StoreError,
  Uuid7Generator,
} from 'idsmith';
import { muteSqliteWarning } from 'idsmith/internal/cli';
import { memoryStore } from 'idsmith/stores/memory';
import { type Family, LAYOUT, type LeasedFamily, TICK } from '../families.js';
import { AnswerLimit, callLines, recordBytes, recorded, wrapStore } from '../history/history.js';
import { openTarget } from '../target.js';
import { LeaseCopies } from './lease-copies.js';
import type { Message, Order, RequestFaultState, Task, WorkerFiles } from './task.js';

// One of the processes of a run. It takes leases and blocks, mints, and writes every id and every call into its files before it goes
// on. It ends on order, and when the process that started it is gone.

/** The longest wait for connections to close, on which nothing may come any more, ms. */
const CLOSE_MS = 4000;
/** The pause between two tries to open a store that asks its server at once, ms. */
const OPEN_PAUSE = 200;

const fault: RequestFaultState = { fault: 'none', delay: 0 };
const ending = new AbortController();
let offset = 0;
let copies: LeaseCopies | undefined;
/** Lets a copy begin, which has waited for the memory of its original. */
let begin = () => {};

muteSqliteWarning();
// The parent is gone: nobody reads what comes now.
process.on('disconnect', () => process.exit(1));
// Ctrl-C at a terminal reaches every process of the command. The parent decides when this one ends.
process.on('SIGINT', () => {});
process.on('message', (order: Order) => {
  if ('task' in order) void work(order.task, order.files);
  else if ('offset' in order) offset = order.offset;
  else if ('fault' in order) Object.assign(fault, order.fault);
  else if ('copy' in order) tell({ copied: copies?.copy(order.copy.isTold) ?? null });
  else if ('goOnWith' in order) {
    copies?.inherit(order.goOnWith);
    begin();
  } else {
    ending.abort();
    begin();
  }
});

function tell(message: Message): void {
  process.send?.(message, () => {});
}

async function work(task: Task, files: WorkerFiles): Promise<void> {
  const ids = openSync(files.ids, 'a');
  const calls = openSync(files.calls, 'a');
  try {
    const { store, map, close } = await openSource(task);
    const limit = new AnswerLimit(task.timeout, { onUnanswered: (unexpected) => tell({ unexpected }) });
    const limited = limit.on(store);
    const logged = task.logsCalls
      ? recorded(
          limited,
          callLines((line) => writeSync(calls, line)),
        )
      : limited;
    copies = new LeaseCopies(withRequestFaults(logged, fault), ending.signal);
    const context: MintingContext = {
      task,
      store: copies.store,
      map,
      copies,
      now: () => Date.now() + task.offset + offset,
      write: (...record) => void writeSync(ids, recordBytes(...record)),
    };
    tell({ event: 'ready' });
    if (task.isCopy)
      await new Promise<void>((resolve) => {
        begin = resolve;
        if (ending.signal.aborted) resolve();
      });
    const members = Array.from({ length: task.members ?? 1 }, (_, i) => i);
    await Promise.all(
      members.flatMap((i) => task.families.map((family) => new MintingLoop(context, family, i).run())),
    );
    // A planted loop may be over long before the end.
    while (!ending.signal.aborted) await sleep(20);
    await Promise.race([close(), sleep(CLOSE_MS)]).catch(() => {});
    process.exit(0);
  } catch (error) {
    console.error(error);
    const text = error instanceof Error ? error.message : String(error);
    process.send?.({ unexpected: text } satisfies Message, () => process.exit(1));
  }
}

interface Source {
  readonly store: Store;
  readonly map: ShardMap | undefined;
  close(): Promise<void>;
}

/** Opens the store, or the nodes of sharded keys. Tries again while the store is out of reach. */
async function openSource({ target }: Task): Promise<Source> {
  if ('shards' in target) {
    const { ShardMap } = await import('@idsmith/shard');
    const map = new ShardMap(target.shards);
    // No family on these nodes asks the store.
    return { store: memoryStore(), map, close: () => map.close() };
  }
  for (;;) {
    try {
      const store = await openTarget(target);
      return { store, map: undefined, close: () => store.close() };
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'STORE' || ending.signal.aborted) throw error;
      tell({ event: 'open-failed' });
      await sleep(OPEN_PAUSE);
    }
  }
}

/** The store, as it looks through a bad connection. Works on every store, also on one without a network. */
function withRequestFaults(store: Store, state: RequestFaultState): Store {
  return wrapStore(store, async (name, _args, call) => {
    switch (state.fault) {
      case 'none':
        return call();
      case 'requests lost':
        throw failure(name, 'the request was lost');
      case 'answers lost':
        await call();
        throw failure(name, 'the answer was lost');
      case 'requests late':
        // The caller has given up long before the request arrives.
        void sleep(state.delay)
          .then(call)
          .catch(() => {});
        throw failure(name, 'the request was late');
      case 'requests repeated': {
        const answer = await call();
        await call().catch(() => {});
        return answer;
      }
    }
  });
}

const failure = (name: string, why: string) =>
  new StoreError(`${name}: ${why}, as idsmith verify has arranged`);

/** A sequence is closed and opened again after this many handfuls, so that ends of blocks go back. */
const HANDFULS_OF_AN_OPENING = 10;
/** A sequence asks its store with nearly every handful, so its handfuls come less often. */
const SEQUENCE_PAUSES = 4;
/** A generator whose clock went back too far works again when its clock does. After this time, ms, another one is made. */
const CLOCK_PATIENCE = 500;
/** Errors that a process meets where the store or the clock has a fault. It tries again. */
const EXPECTED: readonly string[] = ['STORE', 'CLOCK', 'LEASES_EXHAUSTED', 'LEASE_FENCED'];
/** A failure that goes on is told once in this time, ms. */
const TOLD_EVERY = 1000;

/** Everything that the loops of a process share. */
interface MintingContext {
  readonly task: Task;
  readonly store: Store;
  /** The sharded keys of a target with nodes instead of a store. */
  readonly map: ShardMap | undefined;
  readonly copies: LeaseCopies;
  /** The clock of the process, ms. */
  now(): number;
  write(family: Family, source: number, ids: readonly bigint[], isFirst: boolean, waited: number): void;
}

/** What mints with a lease. */
type Generator = FlakeGenerator | LocalityGenerator | Uuid7Generator;

/** Mints ids of one family, in every way that there is, until the process shall end. */
class MintingLoop {
  readonly #context: MintingContext;
  readonly #family: Family;
  readonly #source: number;
  readonly #clock: { now(): number };
  /** The name of the loop in messages. */
  readonly #key: string;
  #isFirst = true;
  #mintedAt = performance.now();
  #hasMinted = false;
  #toldAt = Number.NEGATIVE_INFINITY;
  readonly #unexpected = new Set<string>();

  /** @param member the number of the source in its process: the clocks of several sources differ, too */
  constructor(context: MintingContext, family: Family, member: number) {
    this.#context = context;
    this.#family = family;
    this.#source = context.task.number + member;
    this.#clock = { now: () => context.now() + 20 * member };
    this.#key = `${family} of source ${this.#source}`;
  }

  /** Mints again and again. A fault is no reason to end; any other error is told. */
  async run(): Promise<void> {
    while (!this.#isOver) {
      try {
        if (this.#family === 'sequences') await this.#mintFromSequence();
        else if (this.#family === 'keys') await this.#mintKeys();
        else await this.#mintWithLease(this.#family);
      } catch (error) {
        if (this.#isOver) return;
        this.#failed(error as IdError);
        await sleep(100 + randomInt(100));
      }
    }
  }

  get #isOver(): boolean {
    const isMute = this.#context.task.plant?.mute?.includes(this.#family) === true;
    return ending.signal.aborted || (isMute && this.#hasMinted);
  }

  /** Tells a failure that goes on now and then, and an error that no fault explains once. */
  #failed({ code, message }: IdError): void {
    if (!EXPECTED.includes(code) && !this.#unexpected.has(code)) {
      this.#unexpected.add(code);
      tell({ unexpected: `${code ?? 'error'}: ${message}` });
    }
    if (performance.now() - this.#toldAt < TOLD_EVERY) return;
    this.#toldAt = performance.now();
    tell({ failing: this.#key, why: `at ${new Date().toISOString()}: ${message}` });
  }

  /** Mints a handful, and writes what was handed out even if the rest fails. */
  async #handful(mint: (ids: bigint[]) => unknown): Promise<void> {
    const ids: bigint[] = [];
    try {
      await mint(ids);
    } finally {
      if (ids.length > 0) this.#write(ids);
    }
  }

  #write(ids: bigint[]): void {
    const { write, task } = this.#context;
    write(this.#family, this.#source, ids, this.#isFirst, performance.now() - this.#mintedAt);
    if (!this.#hasMinted && task.plant?.repeat?.includes(this.#family))
      write(this.#family, this.#source, ids.slice(0, 1), true, 0);
    if (this.#toldAt > 0) tell({ failing: this.#key });
    this.#mintedAt = performance.now();
    this.#hasMinted = true;
    this.#isFirst = false;
    this.#toldAt = Number.NEGATIVE_INFINITY;
  }

  async #mintWithLease(family: LeasedFamily): Promise<void> {
    const { store, task, copies } = this.#context;
    const { signal } = ending;
    const terms = { ...task.lease, namespace: task.names[family], clock: this.#clock };
    const options = { ...terms, label: `idsmith verify, process ${this.#source}`, signal };
    const lease = (await copies.inherited(family, options)) ?? (await this.#acquire(store, options));
    copies.holds(lease, family, options);
    tell({ event: 'acquired' });
    for (const event of ['fenced', 'renewal-failed', 'reacquired'] as const)
      lease.on(event, () => tell({ event }));
    this.#isFirst = true;
    try {
      await this.#mintUntilUseless(this.#generatorOf(family, lease), lease);
    } finally {
      // A release would tell the store that nothing was minted in the window of another process.
      if (copies.forget(lease)) await lease.release().catch(() => tell({ event: 'release-failed' }));
    }
  }

  async #acquire(store: Store, options: Parameters<typeof acquireLease>[1]): Promise<Lease> {
    try {
      return await acquireLease(store, options);
    } catch (error) {
      if (!this.#isOver) tell({ event: `refused ${(error as IdError).code}` });
      throw error;
    }
  }

  #generatorOf(family: LeasedFamily, lease: Lease): Generator {
    if (family === 'flakes') return new FlakeGenerator({ node: lease, layout: LAYOUT, clock: this.#clock });
    // As coarse as the ticks of flakes, and with the same counter in all processes, so that windows that overlap would show.
    const coarse = { now: () => Math.floor(this.#clock.now() / TICK) * TICK };
    if (family === 'uuid7') return new Uuid7Generator({ node: lease, clock: coarse });
    return new LocalityGenerator({ node: lease, mode: 'sequential', clock: coarse });
  }

  /** Mints until the end, or until the generator is of no more use. */
  async #mintUntilUseless(generator: Generator, lease: Lease): Promise<void> {
    let wrongSince = Number.POSITIVE_INFINITY;
    while (!this.#isOver) {
      try {
        await this.#handful((ids) => mintSome(generator, ids));
        this.#context.copies.hasMinted(lease);
        wrongSince = Number.POSITIVE_INFINITY;
      } catch (error) {
        const { code } = error as IdError;
        if (!EXPECTED.includes(code)) throw error;
        this.#failed(error as IdError);
        if (code === 'CLOCK') wrongSince = Math.min(wrongSince, performance.now());
        if (performance.now() - wrongSince > CLOCK_PATIENCE) return;
      }
      await sleep(this.#context.task.pause);
    }
  }

  async #mintFromSequence(): Promise<void> {
    const { store, task } = this.#context;
    const { signal } = ending;
    const sequences = new Sequences(store);
    try {
      if (task.definesSequence) await sequences.ensure(task.names.sequences, { start: 1, blockSize: 20 });
      const sequence: Sequence = await sequences.get(task.names.sequences, { prefetch: 1 });
      for (let count = 0; count < HANDFULS_OF_AN_OPENING && !this.#isOver; count++) {
        await this.#handful(async (ids) => {
          ids.push(await sequence.next({ signal }));
          ids.push(...(await sequence.batch(randomInt(1, 4), { signal })));
          const taken = sequence.take();
          if (taken !== undefined) ids.push(taken);
        });
        await sleep(SEQUENCE_PAUSES * task.pause);
      }
    } finally {
      await sequences.close().catch(() => undefined);
    }
  }

  async #mintKeys(): Promise<void> {
    const { task } = this.#context;
    const map = this.#context.map as ShardMap;
    // The part of a key that must be unique: the millisecond, and the two characters of the variant.
    const numberOf = (key: string) =>
      (BigInt(map.getTime(key).getTime()) << 16n) | BigInt(Buffer.from(key.slice(-4, -2)).readUInt16BE());
    await this.#handful(async (ids) => {
      ids.push(numberOf(await map.genKey()));
      ids.push(...(await map.genKeys('user', 4)).map(numberOf));
    });
    await sleep(task.pause);
  }
}

/** Mints a handful in every way that a generator has. */
async function mintSome(generator: Generator, ids: bigint[]): Promise<void> {
  if (generator instanceof FlakeGenerator) {
    ids.push(generator.next());
    ids.push(...generator.batch(4));
    ids.push(await generator.nextAsync());
    return;
  }
  if (generator instanceof LocalityGenerator) {
    if (randomInt(10) === 0) generator.useSequentialIds();
    if (randomInt(10) === 0) generator.useVariableIds();
  }
  ids.push(numberOfUuid(generator.next()));
  ids.push(...generator.batch(3).map(numberOfUuid));
  const two = new Uint8Array(32);
  const filled = generator.fill(two);
  for (let at = 0; at < 16 * filled; at += 16)
    ids.push(BigInt(`0x${Buffer.from(two.subarray(at, at + 16)).toString('hex')}`));
}

const numberOfUuid = (text: string) => BigInt(`0x${text.replaceAll('-', '')}`);
