import { useEffect, useState } from 'preact/hooks';
import { refreshCount } from '../../api/connection.js';
import { ApiError, sentenceOf, UnreachableError } from '../../api/errors.js';
import { api } from '../../api/routes.js';
import type { Reading, SequenceJson } from '../../api/types.js';
import { positionOf } from '../../lib/sequence-usage.js';
import { useObservable } from '../../ui/use-observable.js';

export interface Inspected {
  /** What all this is about; the one before, until there is an answer. */
  readonly id: string;
  readonly readings: readonly Reading[];
  /** The sequences that have such an id. */
  readonly sequences: readonly SequenceJson[];
  /** What is wrong with the id. */
  readonly problem: string | undefined;
  /** What is wrong otherwise. */
  readonly error: unknown;
  readonly isLoading: boolean;
}

const NOTHING: Inspected = {
  id: '',
  readings: [],
  sequences: [],
  problem: undefined,
  error: undefined,
  isLoading: false,
};

/** What the server says of an id. */
export function useInspection(id: string): Inspected {
  const [state, setState] = useState(NOTHING);
  const refreshes = useObservable(refreshCount);

  useEffect(() => {
    if (id === '') return setState(NOTHING);
    const control = new AbortController();
    // What was there stays until there is something else, so that nothing flickers.
    setState((last) => ({ ...last, isLoading: last.readings.length + last.sequences.length === 0 }));
    inspect(id, control.signal).then(
      (next) => control.signal.aborted || setState(next),
      (error) => {
        if (control.signal.aborted) return;
        // What was there stays while nobody answers; the banner says why.
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
  const [read, sequences] = await Promise.all([
    api.inspect(id, signal).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 422) return error;
      throw error;
    }),
    sequencesWith(id, signal),
  ]);
  if (!(read instanceof ApiError))
    return {
      ...NOTHING,
      id,
      readings: read.readings,
      sequences: sequences.filter((each) => isGiven(each, id)),
    };
  return { ...NOTHING, id, sequences, problem: sequences.length === 0 ? sentenceOf(read) : undefined };
}

/** A number that says something else is a sequence's only if it was given out: one without an end has them all. */
function isGiven(sequence: SequenceJson, id: string): boolean {
  return positionOf(sequence, BigInt(id)).kind === 'given';
}

/** A plain number may be an id of a sequence: which of them has it, only the store knows. */
async function sequencesWith(id: string, signal: AbortSignal): Promise<SequenceJson[]> {
  if (!/^-?\d{1,19}$/.test(id)) return [];
  const all = await api.sequences(signal);
  return all.filter((sequence) => positionOf(sequence, BigInt(id)).kind !== 'none');
}
