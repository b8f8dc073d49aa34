import { ClosedError, hasCode, IdError, StoreError } from '../errors.js';
import { STORE_NAMESPACE } from '../lease/namespace.js';
import type { LeaseStore } from '../lease/port.js';
import { further, judgeNumber } from '../lineage/judge.js';
import { wentBack } from '../lineage/went-back.js';
import { show } from '../options.js';
import { endOf, isBlock } from '../sequence/block.js';
import type { Block, SequenceStore } from '../sequence/port.js';
import { report } from '../support/diagnostics.js';
import { storeError } from '../support/store-error.js';
import type { DisposableStore, Store } from './store.js';

// What every store of this library has, whatever its backend: an end, events, and a memory of the numbers that it gave to this process.

/** A backend, as messages and events name it. */
type StoreKind =
  | 'memory'
  | 'sqlite'
  | 'd1'
  | 'durable-object'
  | 'libsql'
  | 'postgres'
  | 'mysql'
  | 'oracle'
  | 'redis'
  | 'dynamodb'
  | 'etcd'
  | 'http';

/** A client that `openStore` made for a store. */
export interface OwnClient {
  /** The address of the server, for messages: `10.0.0.1:5432`. */
  readonly at?: string;
  /** Ends the client. */
  end(): unknown;
}

/** Methods that do not ask the store. They work after `close()`. */
const AT_ONCE = ['warnings', 'lineageRead', 'settled'];

type Method = (...args: never[]) => Promise<unknown>;

/**
 * The store of a backend's methods. A call goes to the method of the backend as it is, and so does the answer, with three exceptions. After
 * `close()`, every method throws a `ClosedError`. A number that the store has given before is refused: see {@link witnessed}. The
 * channel `idsmith:store` carries the events `opened`, `closed` and `error`.
 *
 * @param own the client that ends with the store
 */
export function makeStore(
  kind: StoreKind,
  methods: LeaseStore & SequenceStore & Pick<Store, 'schemaVersion' | 'sql'>,
  own?: OwnClient,
): DisposableStore {
  let closing: Promise<void> | undefined;

  const watched =
    (operation: string, method: Method): Method =>
    async (...args) => {
      if (closing) throw new ClosedError(`the ${kind} store is closed: open another one`);
      try {
        return await method(...args);
      } catch (error) {
        if (isFailure(error))
          report('idsmith:store', () => ({ event: 'error', store: kind, operation, error }));
        throw error;
      }
    };

  async function closeOnce(): Promise<void> {
    try {
      await methods.settled?.();
      await own?.end();
    } catch (error) {
      const failure = storeError(`closing the ${kind} store`, error);
      report('idsmith:store', () => ({ event: 'error', store: kind, operation: 'close', error: failure }));
      throw failure;
    } finally {
      report('idsmith:store', () => ({ event: 'closed', store: kind }));
    }
  }
  const close = () => {
    closing ??= closeOnce();
    return closing;
  };

  // Descriptors, because a store may learn its properties later: those are getters.
  const members = Object.getOwnPropertyDescriptors(methods);
  let told: string | undefined;
  const remembering: Record<string, unknown> = {
    ...witnessed(methods),
    ...(methods.namespaces && {
      // The store's own record is in a namespace, too, which is nobody's business.
      namespaces: async () =>
        (await methods.namespaces?.())?.filter((namespace) => namespace !== STORE_NAMESPACE),
    }),
    ...(methods.moment && {
      moment: async (namespace: string) => {
        const moment = await methods.moment?.(namespace);
        told = moment?.lineage;
        return moment;
      },
    }),
  };
  for (const [name, member] of Object.entries(members))
    if (typeof member.value === 'function' && !AT_ONCE.includes(name))
      member.value = watched(name, (remembering[name] as Method | undefined) ?? member.value);
  report('idsmith:store', () => ({ event: 'opened', store: kind }));
  const store = Object.defineProperties({}, members) as typeof methods;
  Object.defineProperty(store, 'lineage', { configurable: true, get: () => told ?? methods.lineageRead?.() });
  return Object.assign(store, { close, [Symbol.asyncDispose]: close });
}

/** True if the store failed. Other errors are answers: there is no such sequence, or no id is left. */
function isFailure(error: unknown): boolean {
  return !(error instanceof IdError) || error instanceof StoreError;
}

/** What this process has got from a sequence. */
interface Memory {
  /** The number after the last one. */
  end: bigint;
  readonly step: number;
  /** The calls on their way, each with the number that its answer may not be before. */
  readonly underway: Set<{ limit: bigint | undefined }>;
}

/**
 * A store whose numbers are compared with what this process has got before. The process remembers what the store may forget: a number that it has
 * got, or one before it, is not handed out. The store is moved on instead.
 */
function witnessed(
  store: SequenceStore,
): Pick<SequenceStore, 'allocate' | 'giveBack' | 'removeSequence' | 'alterSequence'> {
  const memories = new Map<string, Memory>();

  async function allocate(name: string, blocks: number): Promise<Block> {
    const before = memories.get(name);
    const call = { limit: before?.end };
    before?.underway.add(call);
    try {
      const block = await store.allocate(name, blocks);
      if (before?.step === Math.sign(block.step)) {
        const verdict = judgeNumber(call.limit, block.first, block.step);
        if (verdict.kind === 'continue-at') {
          if (!(await store.describeSequence(name)).cycle) throw await moveOn(name, block, before.end);
          // A new round: what was got in the last one says nothing any more.
          forget(name);
        }
      }
      remember(name, block);
      return block;
    } finally {
      before?.underway.delete(call);
    }
  }

  function remember(name: string, block: Block): void {
    const { step } = block;
    const end = endOf(block);
    const known = memories.get(name);
    if (known?.step === Math.sign(step)) known.end = further(known.end, end, step);
    else memories.set(name, { end, step: Math.sign(step), underway: new Set() });
  }

  function forget(name: string): void {
    for (const call of memories.get(name)?.underway ?? []) call.limit = undefined;
    memories.delete(name);
  }

  /** Moves a sequence on beyond everything that this process has got, and beyond what others may have got. */
  async function moveOn(name: string, block: Block, seen: bigint): Promise<StoreError> {
    let next = seen;
    const outcome = await beyond(name, block, seen).then(
      (place) => {
        next = place;
        return `it continues at ${next} now`;
      },
      (error: unknown) =>
        `set its next to ${seen} or further on, which failed here: ${(error as Error).message}`,
    );
    return wentBack({
      message:
        `the store has lost acknowledged writes, or another store has taken its place: sequence ${show(name)} gave ${block.first}, and ` +
        `this process has got numbers up to ${seen} before. Nothing was handed out; ${outcome}. Other processes may have got numbers that ` +
        'repeat: see docs/lineage.md',
      sequence: name,
      next,
    });
  }

  /** Moves a sequence to its ceiling, where it has one and nobody was quicker, and to the number that was seen if that is further on. */
  async function beyond(name: string, block: Block, seen: bigint): Promise<bigint> {
    const { next } = (await store.restoreSequence?.(name, { seen, instead: block })) ?? {};
    const place = next ?? (await store.describeSequence(name)).next;
    if (further(place, seen, block.step) === place) return place;
    await store.alterSequence(name, { next: seen });
    return seen;
  }

  const takeBack = store.giveBack?.bind(store);
  return {
    allocate,

    async removeSequence(name) {
      try {
        await store.removeSequence(name);
      } catch (error) {
        // The answer to an earlier call may have been lost.
        if (hasCode(error, 'NO_SUCH_SEQUENCE')) forget(name);
        throw error;
      }
      forget(name);
    },

    alterSequence(name, changes) {
      // A cycle that ends goes on from its last round, which is behind what earlier rounds gave.
      if (changes.cycle === false) forget(name);
      return store.alterSequence(name, changes);
    },

    ...(takeBack && {
      async giveBack(name, tail) {
        const known = memories.get(name);
        const end = known?.end;
        const isAlike = known !== undefined && isBlock(tail) && known.step === Math.sign(tail.step);
        // Somebody else in this process has got later numbers, so the store has no reason to take these.
        if (isAlike && further(known.end, endOf(tail), tail.step) !== endOf(tail)) return false;
        // Before the answer: the ids may be given out again at once, even to this process.
        if (isAlike) lower(known, tail.first);
        const isBack = await takeBack(name, tail);
        if (!isBack && known && end !== undefined) known.end = further(known.end, end, known.step);
        return isBack;
      },
    }),
  };
}

function lower(memory: Memory, to: bigint): void {
  const sooner = (number: bigint) => (further(number, to, memory.step) === number ? to : number);
  memory.end = sooner(memory.end);
  for (const call of memory.underway) if (call.limit !== undefined) call.limit = sooner(call.limit);
}
