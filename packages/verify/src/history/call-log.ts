import { hrtime } from 'node:process';
import type { Store } from 'idsmith';
import type { IdRecord } from './id-records.js';

/** Stands around every call of a store: makes the call with `call`, once, never or later, and answers in its place. */
export type Around = (
  name: string,
  args: readonly unknown[],
  call: () => Promise<unknown>,
) => Promise<unknown>;

/** The methods that ask the store. All others, such as `close`, are called as they are. */
const ASKING: readonly string[] = [
  ...['now', 'listLeases', 'readLeases', 'swapLease', 'claimLease'],
  ...['defineSequence', 'describeSequence', 'removeSequence', 'listSequences', 'alterSequence'],
  ...['allocate', 'giveBack'],
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
export type LogCall = (call: Omit<Call, 'by'>) => (outcome: Outcome) => void;

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
