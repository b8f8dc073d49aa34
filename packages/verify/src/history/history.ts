import { hrtime } from 'node:process';
import { type Store, StoreError } from 'idsmith';
import { withTimeout } from 'idsmith/internal/stores';
import { FAMILIES, type Family } from '../families.js';

// What processes do and mint, written down and read again: the calls of a store, and the ids.

/** Stands around every call of a store: makes the call with `call`, once, never or later, and answers in its place. */
type Around = (name: string, args: readonly unknown[], call: () => Promise<unknown>) => Promise<unknown>;

/** The methods that ask the store. All others, such as `close`, are called as they are. */
const ASKING: readonly string[] = [
  'now',
  'listLeases',
  'readLeases',
  'swapLease',
  'claimLease',
  'defineSequence',
  'describeSequence',
  'removeSequence',
  'listSequences',
  'alterSequence',
  'allocate',
  'giveBack',
];

/**
 * The store with `around` around each of its calls. Also for stores that are objects of a class.
 *
 * @param isWrapped chooses the methods by their names; default those that ask the store
 */
export function wrapStore(
  store: Store,
  around: Around,
  isWrapped = (name: string) => ASKING.includes(name),
): Store {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const method = (value as (...args: unknown[]) => Promise<unknown>).bind(target);
      if (typeof name !== 'string' || !isWrapped(name)) return method;
      return (...args: unknown[]) => around(name, args, async () => method(...args));
    },
  });
}

/** One call of a store: when it was made, and what came of it. */
export interface Call {
  /** The process that made the call. */
  readonly by: string;
  readonly name: string;
  readonly args: readonly unknown[];
  /** Milliseconds on a clock that all processes of this machine share and that never goes back. */
  readonly at: number;
  /** The moment of the answer. Without one, nobody knows whether the call was carried out. */
  ended?: number;
  result?: unknown;
  /** The code of an error. The outcome of the call is unknown then, too. */
  error?: string;
}

/** Everything that the processes of a run have done. */
export interface History {
  readonly calls: readonly Call[];
  readonly ids: readonly IdRecord[];
  /** Errors that no process should meet, as sentences. */
  readonly unexpected: readonly string[];
}

/** The moment, on the clock of {@link Call.at}. */
const moment = () => Number(hrtime.bigint()) / 1e6;

type Outcome = Pick<Call, 'ended' | 'result' | 'error'>;

/** Logs a call when it begins. The function that it gives logs the end. */
type LogCall = (call: Omit<Call, 'by'>) => (outcome: Outcome) => void;

/** The store, with every call logged. */
export function recorded(store: Store, log: LogCall): Store {
  return wrapStore(store, async (name, args, call) => {
    const end = log({ name, args, at: moment() });
    try {
      const result = await call();
      end({ ended: moment(), result });
      return result;
    } catch (error) {
      end({ ended: moment(), error: String((error as { code?: unknown })?.code ?? error) });
      throw error;
    }
  });
}

/** Calls in the memory of this process. */
export class CallLog {
  readonly calls: Call[] = [];

  /** @param by the name of the one who calls */
  by(by: string): LogCall {
    return (begun) => {
      const call: Call = { by, ...begun };
      this.calls.push(call);
      return (outcome) => Object.assign(call, outcome);
    };
  }
}

/** A line of the file that a process keeps: the beginning of a call, or its end. */
type Line = ({ readonly call: number } & Omit<Call, 'by'>) | ({ readonly end: number } & Outcome);

/** Logs calls as lines of text. Values of `bigint` become decimal text. */
export function callLines(write: (line: string) => void): LogCall {
  const writeLine = (line: Line) =>
    write(`${JSON.stringify(line, (_key, value) => (typeof value === 'bigint' ? String(value) : value))}\n`);
  let count = 0;
  return (begun) => {
    const call = count++;
    writeLine({ call, ...begun });
    return (outcome) => writeLine({ end: call, ...outcome });
  };
}

/** The calls in the lines of a process. A last line may be cut off: the process was killed. */
export function readCalls(by: string, text: string): Call[] {
  const calls = new Map<number, Call>();
  for (const each of text.split('\n').slice(0, -1)) {
    const line: Line = JSON.parse(each);
    if ('call' in line) {
      const { call, ...begun } = line;
      calls.set(call, { by, ...begun });
    } else {
      const { end, ...outcome } = line;
      Object.assign(calls.get(end) as Call, outcome);
    }
  }
  return [...calls.values()];
}

/**
 * The length of a record, big-endian: 1 byte the code of the family, 1 byte 1 for the first id of a generator and 0 for others, 2 bytes
 * the number of the source that minted, 4 bytes the ms in which the source had handed out nothing of the family before, 16 bytes the id.
 */
export const RECORD_BYTES = 24;

/** An id that a process has handed out. */
export interface IdRecord {
  readonly family: Family;
  /** The number of the process, or of one of several that mint in a process. */
  readonly source: number;
  readonly id: bigint;
  /** True for the first id of a generator. */
  readonly isFirst: boolean;
  /** Milliseconds without an id of the family before this one. */
  readonly waited: number;
}

/** Ids of a source as records. The first of them has waited, the others came with it. */
export function recordBytes(
  family: Family,
  source: number,
  ids: readonly bigint[],
  isFirst = false,
  waited = 0,
): Uint8Array {
  const bytes = Buffer.alloc(RECORD_BYTES * ids.length);
  ids.forEach((id, i) => {
    const at = RECORD_BYTES * i;
    bytes.writeUInt8(FAMILIES.indexOf(family), at);
    bytes.writeUInt8(isFirst && i === 0 ? 1 : 0, at + 1);
    bytes.writeUInt16BE(source, at + 2);
    bytes.writeUInt32BE(i === 0 ? Math.round(waited) : 0, at + 4);
    bytes.writeBigUInt64BE(id >> 64n, at + 8);
    bytes.writeBigUInt64BE(id & 0xffff_ffff_ffff_ffffn, at + 16);
  });
  return bytes;
}

/** The records in bytes. A last one may be cut off: the process was killed. */
export function* readRecords(bytes: Uint8Array): Generator<IdRecord> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
    const family = FAMILIES[view.getUint8(at)];
    if (family === undefined) throw new Error(`no family has the code ${view.getUint8(at)}`);
    yield {
      family,
      isFirst: view.getUint8(at + 1) === 1,
      source: view.getUint16(at + 2),
      waited: view.getUint32(at + 4),
      id: (view.getBigUint64(at + 8) << 64n) | view.getBigUint64(at + 16),
    };
  }
}

/** A call that the store has not answered in time. Nobody knows whether it was carried out, or will be. */
export class UnansweredError extends StoreError {}

/** The time for the answers that are awaited when the user stops the run, ms. Then the names of the run are removed. */
const LAST_MS = 5000;

/** Settings of an {@link AnswerLimit}. */
interface LimitOptions {
  /** True if nothing more is asked after a call without an answer. Default `false`. */
  readonly isFinal?: boolean;
  /** The end of the run. Answers that are awaited then have a few seconds. */
  readonly signal?: AbortSignal;
  /** Called with a sentence for each call without an answer. */
  onUnanswered?(text: string): void;
}

/** The longest wait for any answer of a store, so that a run ends whatever the store does. */
export class AnswerLimit {
  /** The calls that got no answer, as sentences. */
  readonly unanswered: string[] = [];
  readonly #ms: number;
  readonly #options: LimitOptions;
  readonly #stopped: Promise<never> | undefined;

  constructor(ms: number, options: LimitOptions = {}) {
    this.#ms = ms;
    this.#options = options;
    this.#stopped = options.signal && rejectionAfter(options.signal);
  }

  /** The store, whose calls reject when the limit is over. */
  on(store: Store): Store {
    return wrapStore(
      store,
      (name, _args, call) => this.wait(name, call),
      () => true,
    );
  }

  /** The result of `call`. @throws UnansweredError when the limit is over */
  async wait<T>(name: string, call: () => Promise<T>): Promise<T> {
    if (this.#options.isFinal && this.unanswered.length > 0)
      throw new UnansweredError(`${name} was not called, because the store had stopped answering`);
    const text = `${name}: no answer within ${this.#ms / 1000} s`;
    const error = () => {
      this.unanswered.push(text);
      this.#options.onUnanswered?.(text);
      return new UnansweredError(text);
    };
    const answer = withTimeout(call(), this.#ms, { error });
    return this.#stopped === undefined ? answer : Promise.race([answer, this.#stopped]);
  }
}

/** Rejects with the reason of the signal, a little after the signal was aborted. */
function rejectionAfter(signal: AbortSignal): Promise<never> {
  const rejection = new Promise<never>((_resolve, reject) => {
    const wait = () => setTimeout(() => reject(signal.reason), LAST_MS).unref();
    signal.addEventListener('abort', wait, { once: true });
  });
  rejection.catch(() => {});
  return rejection;
}
