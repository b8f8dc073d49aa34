import { useEffect, useId, useState } from 'preact/hooks';
import { api } from '../../api/routes.js';
import { digits } from '../../lib/format.js';
import { TextField } from '../../ui/field.js';
import { usePolling } from '../../ui/use-polling.js';

interface Props {
  readonly value: string;
  readonly error: string | undefined;
  readonly onInput: (name: string) => void;
}

/** The pause in typing after which suggestions are loaded, ms. */
const PAUSE = 250;
/** The most suggestions. */
const SUGGESTIONS = 20;

/** The name of a sequence, with the defined sequences as suggestions. */
export function SequenceField({ value, error, onInput }: Props) {
  const wanted = usePause(value.trim(), PAUSE);
  const { data } = usePolling(
    wanted,
    (signal) => api.sequences({ q: wanted, limit: SUGGESTIONS }, signal),
    10_000,
  );
  const list = useId();
  const names = data?.sequences.map(({ name }) => name) ?? [];
  return (
    <>
      <TextField
        label="Sequence"
        value={value}
        onInput={onInput}
        error={error}
        list={list}
        hint={hintOf(wanted, data?.total)}
      />
      <datalist id={list}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

function hintOf(wanted: string, total: number | undefined): string {
  if (total === undefined) return 'a defined sequence';
  if (wanted !== '') return `${digits(total)} ${total === 1 ? 'name contains' : 'names contain'} this`;
  return total === 0 ? 'no sequence is defined yet' : `one of ${digits(total)} defined sequences`;
}

/** A value that changes only after it has stayed the same for `ms`, such as a text after the user has paused. */
function usePause<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
