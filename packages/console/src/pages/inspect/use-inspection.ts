import { useEffect, useState } from 'preact/hooks';
import { refreshCount } from '../../api/connection.js';
import { ApiError, sentenceOf, UnreachableError } from '../../api/errors.js';
import { api } from '../../api/routes.js';
import type { MakerJson, Reading, SequenceJson } from '../../api/types.js';
import { positionOf } from '../../lib/sequence-usage.js';
import { useObservable } from '../../ui/hooks.js';

export interface Inspected {
  /** The id of these readings. The previous id, until a response arrives. */
  readonly id: string;
  readonly readings: readonly Reading[];
  /** Who made the id, if it is a flake of a namespace that the server watches. */
  readonly makers: readonly MakerJson[];
  /** The sequences that contain this id. */
  readonly sequences: readonly SequenceJson[];
  /** The number of sequences that were not looked at, because there are too many. */
  readonly unread: number;
  /** The error in the id. */
  readonly problem: string | undefined;
  /** Any other error. */
  readonly error: unknown;
  readonly isLoading: boolean;
}

/** The most sequences to look at for one number: the busiest ones of the server. */
const LOOKED_AT = 200;

const NOTHING: Inspected = {
  id: '',
  readings: [],
  makers: [],
  sequences: [],
  unread: 0,
  problem: undefined,
  error: undefined,
  isLoading: false,
};

/** The readings of an id, from the server. */
export function useInspection(id: string): Inspected {
  const [state, setState] = useState(NOTHING);
  const refreshes = useObservable(refreshCount);

  useEffect(() => {
    if (id === '') return setState(NOTHING);
    const control = new AbortController();
    // The previous readings stay until new ones arrive, so that the page does not flicker.
    setState((last) => ({ ...last, isLoading: last.readings.length + last.sequences.length === 0 }));
    inspect(id, control.signal).then(
      (next) => control.signal.aborted || setState(next),
      (error) => {
        if (control.signal.aborted) return;
        // While the server is unreachable, the previous readings stay and the banner tells why.
        setState((last) =>
          error instanceof UnreachableError ? { ...last, isLoading: false } : { ...NOTHING, id, error },
        );
      },
    );
    return () => control.abort();
  }, [id, refreshes]);

  return state;
}

async function inspect(id: string, signal: AbortSignal): Promise<Inspected> {
  const [read, { sequences, unread }] = await Promise.all([
    api.inspect(id, signal).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 422) return error;
      throw error;
    }),
    sequencesWith(id, signal),
  ]);
  if (!(read instanceof ApiError)) {
    const { readings, makers = [] } = read;
    const isNumberOnly = readings.every(({ family }) => family === 'sequence');
    const shown = isNumberOnly ? sequences : sequences.filter((each) => isAllocated(each, id));
    return { ...NOTHING, id, readings, makers, sequences: shown, unread };
  }
  return {
    ...NOTHING,
    id,
    sequences,
    unread,
    problem: sequences.length === 0 ? sentenceOf(read) : undefined,
  };
}

/**
 * True if a sequence has allocated the id. A number that is also a flake is shown for such sequences only, because a
 * sequence without a limit contains every number.
 */
function isAllocated(sequence: SequenceJson, id: string): boolean {
  return positionOf(sequence, BigInt(id)).kind === 'allocated';
}

/** The sequences that contain an id. Any plain number can be an id of a sequence. */
async function sequencesWith(id: string, signal: AbortSignal) {
  if (!/^-?\d{1,19}$/.test(id)) return { sequences: [], unread: 0 };
  const { sequences, total } = await api.sequences({ sort: '-handedOut', limit: LOOKED_AT }, signal);
  return {
    sequences: sequences.filter((sequence) => positionOf(sequence, BigInt(id)).kind !== 'none'),
    unread: total - sequences.length,
  };
}
