import { LeasesExhaustedError, StoreError } from 'idsmith';
import type { MissingLease } from 'idsmith/connect';

/** The words for those who want ids of a server that has no node id yet. */
interface Told {
  /** The reason, in words that anybody may read. They do not name the namespace or the store. */
  readonly words: string;
  /** The time after which another request makes sense, seconds. */
  readonly retryAfter: number;
}

/** A server that found no free node id. */
class NoNodeError extends LeasesExhaustedError implements Told {
  readonly words: string;
  readonly retryAfter: number;

  constructor(message: string, { words, retryAfter }: Told, options?: ErrorOptions) {
    super(message, options);
    this.words = words;
    this.retryAfter = retryAfter;
  }
}

/** A server whose store has not given it a node id yet, although node ids are free. */
class NodeLaterError extends StoreError implements Told {
  readonly words: string;
  readonly retryAfter: number;

  constructor(message: string, { words, retryAfter }: Told) {
    super(message);
    this.words = words;
    this.retryAfter = retryAfter;
  }
}

/** The words of an error of {@link waitingForNode}; `undefined` for other errors. */
export function toldBy(error: unknown): Told | undefined {
  return error instanceof NoNodeError || error instanceof NodeLaterError ? error : undefined;
}

/**
 * The error for those who want ids of a lease that is not there.
 *
 * @param missing the state of the lease; `undefined` if it was not asked for yet
 */
export function waitingForNode(namespace: string, missing: MissingLease | undefined): unknown {
  const { wait, error } = missing ?? {};
  const inNamespace = `for a node id in namespace ${JSON.stringify(namespace)}`;
  if (wait !== undefined) {
    const seconds = Math.max(1, Math.ceil((wait.until - Date.now()) / 1000));
    const taken = takenText(wait);
    const message = `this server waits ${seconds} s ${inNamespace}: ${wait.explanation}; ${taken}`;
    const told = { words: `it waits ${seconds} s for a node id; ${taken}`, retryAfter: seconds };
    return wait.taken < wait.size ? new NodeLaterError(message, told) : new NoNodeError(message, told);
  }
  if (error === undefined)
    return new NodeLaterError(`this server is waiting ${inNamespace}: its store has not answered yet`, {
      words: 'it waits for a node id: its store has not answered yet',
      retryAfter: 1,
    });
  if (!isExhausted(error)) return error;
  const { message, taken, size } = error;
  const isCounted = taken !== undefined && size !== undefined;
  const count = isCounted ? `; ${takenText({ taken, size })}` : '';
  return new NoNodeError(
    // A failure that names them all needs no number besides.
    taken === size ? message : message + count,
    { words: `it found no node id that is free${count}`, retryAfter: 1 },
    { cause: error },
  );
}

const takenText = ({ taken, size }: { taken: number; size: number }) =>
  `${taken} of ${size} node ids are taken`;

/** Compared by code, not by class: two copies of the library may be loaded. */
function isExhausted(error: unknown): error is LeasesExhaustedError {
  return (error as { code?: unknown } | undefined)?.code === 'LEASES_EXHAUSTED';
}
