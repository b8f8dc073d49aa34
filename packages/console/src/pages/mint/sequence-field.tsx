import { useId } from 'preact/hooks';
import { api } from '../../api/routes.js';
import { TextField } from '../../ui/field.js';
import { usePolling } from '../../ui/use-polling.js';

interface Props {
  readonly value: string;
  readonly error: string | undefined;
  readonly onInput: (name: string) => void;
}

/** The name of a sequence, with the defined sequences as suggestions. */
export function SequenceField({ value, error, onInput }: Props) {
  const { data = [] } = usePolling('sequences', api.sequences, 10_000);
  const list = useId();
  const names = data.map(({ name }) => name);
  return (
    <>
      <TextField
        label="Sequence"
        value={value}
        onInput={onInput}
        error={error}
        list={list}
        hint={names.length === 0 ? 'no sequence is defined yet' : `one of ${names.length} defined sequences`}
      />
      <datalist id={list}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
