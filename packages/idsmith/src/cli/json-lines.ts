import { type Given, NegativeVerdict } from './command.js';
import { failureOf, UnfinishedJson } from './failure.js';
import { jsonText } from './visible.js';

/** The lines of a command, all at hand or made one by one. */
export type Lines = Iterable<string> | AsyncIterable<string>;

/** The text around the values of a list. */
interface Frame {
  readonly begin: string;
  readonly end: string;
  /** The end after an error, which is given as JSON. */
  endWith(error: string, isEmpty: boolean): string;
}

const IDS: Frame = { begin: '{"ids":[', end: ']}', endWith: (error) => `],"error":${error}}` };

const ARRAY: Frame = {
  begin: '[',
  end: ']',
  endWith: (error, isEmpty) => `${isEmpty ? '' : ','}{"error":${error}}]`,
};

/** JSON of a list that is written value by value, so that a long list needs little memory. Valid JSON, also if the list fails. */
export class JsonLines implements AsyncIterable<string> {
  readonly #values: Iterable<unknown> | AsyncIterable<unknown>;
  readonly #frame: Frame;
  #state: 'new' | 'empty' | 'filled' | 'complete' = 'new';

  constructor(values: Iterable<unknown> | AsyncIterable<unknown>, frame: Frame) {
    this.#values = values;
    this.#frame = frame;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<string> {
    this.#state = 'empty';
    yield this.#frame.begin;
    let verdict: NegativeVerdict | undefined;
    try {
      for await (const value of this.#values) {
        // The comma comes first, so that all lines so far and an end are valid JSON at any time.
        const comma = this.#state === 'empty' ? '' : ',';
        this.#state = 'filled';
        yield comma + jsonText(value);
      }
    } catch (error) {
      if (!(error instanceof NegativeVerdict)) throw this.stoppedBy(error);
      verdict = error;
    }
    this.#state = 'complete';
    yield this.#frame.end;
    if (verdict !== undefined) throw verdict;
  }

  /** The error to throw when the list ends after the lines so far: an {@link UnfinishedJson}, if something was written. */
  stoppedBy(error: unknown): unknown {
    if (this.#state === 'new' || this.#state === 'complete') return error;
    const end = this.#frame.endWith(jsonText(failureOf(error).json), this.#state === 'empty');
    return new UnfinishedJson(error, end);
  }
}

/**
 * Ids for standard output: one a line, or with `--json` as `{"ids":[…]}`. If the ids end with an error, the JSON has the ids
 * before it and the error: `{"ids":[…],"error":{"code":…,"message":…}}`.
 */
export function idLines(given: Given, ids: Lines): Lines {
  return given.on('json') ? new JsonLines(ids, IDS) : ids;
}

/** JSON of values as one array. If the values end with an error, the error is the last element: `{"error":…}`. */
export function jsonArray(values: Iterable<unknown> | AsyncIterable<unknown>): Lines {
  return new JsonLines(values, ARRAY);
}
