import { hrtime } from 'node:process';
import type { Store } from '../../stores/store.js';
import type { Family } from './families.js';
import { wrapStore } from './wrap-store.js';

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

/** Ids that a process has handed out, in order. */
export interface Minted {
  readonly by: string;
  readonly family: Family;
  readonly ids: readonly string[];
}

/** Everything that processes have told of themselves. */
export interface History {
  readonly calls: readonly Call[];
  readonly minted: readonly Minted[];
  /** Errors that no process should meet, as sentences. */
  readonly mishaps: readonly string[];
}

/** The moment, on the clock of {@link Call.at}. */
const moment = () => Number(hrtime.bigint()) / 1e6;

/** Takes down a call when it begins. The function that it gives takes down the end. */
export type TakeDown = (
  call: Omit<Call, 'by'>,
) => (outcome: Pick<Call, 'ended' | 'result' | 'error'>) => void;

/** The store, with every call taken down. */
export function recorded(store: Store, takeDown: TakeDown): Store {
  return wrapStore(store, async (name, args, call) => {
    const end = takeDown({ name, args, at: moment() });
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

/** A history in the memory of this process. */
export class Notebook {
  readonly calls: Call[] = [];

  /** @param by the name of the one who calls */
  takeDown(by: string): TakeDown {
    return (begun) => {
      const call: Call = { by, ...begun };
      this.calls.push(call);
      return (outcome) => Object.assign(call, outcome);
    };
  }

  get history(): History {
    return { calls: this.calls, minted: [], mishaps: [] };
  }
}

/** A line of the file that a process keeps. */
export type Line =
  | { readonly call: number; readonly name: string; readonly args: readonly unknown[]; readonly at: number }
  | ({ readonly end: number } & Pick<Call, 'ended' | 'result' | 'error'>)
  | { readonly minted: Family; readonly ids: readonly string[] }
  | { readonly mishap: string }
  | { readonly ready: true };

/** A line as text. Values of `bigint` become decimal text. */
export const lineText = (line: Line) =>
  `${JSON.stringify(line, (_key, value) => (typeof value === 'bigint' ? String(value) : value))}\n`;

/** The history in the files of processes, by their names. A last line may be cut off: the process was killed. */
export function readHistory(files: ReadonlyMap<string, string>): History {
  const history = { calls: [] as Call[], minted: [] as Minted[], mishaps: [] as string[] };
  for (const [by, text] of files) {
    const calls = new Map<number, Call>();
    for (const line of text
      .split('\n')
      .slice(0, -1)
      .map((each): Line => JSON.parse(each))) {
      if ('call' in line) {
        const call: Call = { by, name: line.name, args: line.args, at: line.at };
        calls.set(line.call, call);
        history.calls.push(call);
      } else if ('end' in line) {
        const { end, ...outcome } = line;
        Object.assign(calls.get(end) as Call, outcome);
      } else if ('minted' in line) history.minted.push({ by, family: line.minted, ids: line.ids });
      else if ('mishap' in line) history.mishaps.push(`${by}: ${line.mishap}`);
    }
  }
  return history;
}
