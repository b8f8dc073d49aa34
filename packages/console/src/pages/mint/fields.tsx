import { useEffect, useId, useState } from 'preact/hooks';
import { api } from '../../api/routes.js';
import type { PublicPrefix } from '../../api/types.js';
import type { FieldErrors } from '../../lib/field-errors.js';
import { digits } from '../../lib/format.js';
import { SelectField, TextField } from '../../ui/field.js';
import { usePolling } from '../../ui/use-polling.js';
import { type MintOptions, PERIODS } from './families.js';

interface PublicFieldProps {
  readonly prefixes: readonly PublicPrefix[];
  /** The chosen prefix; empty for none. */
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (prefix: string) => void;
}

/** The choice of the prefix of public ids. */
export function PublicField({ prefixes, value, error, onChange }: PublicFieldProps) {
  return (
    <SelectField
      label="Public id"
      value={value}
      options={[
        ['', 'none'],
        ...prefixes.map(({ prefix, short }) => [prefix, labelOf(prefix, short)] as const),
      ]}
      onChange={onChange}
      hint="a second, encrypted id for the outside"
      error={error}
    />
  );
}

const labelOf = (prefix: string, isShort: boolean) => `${prefix}_…${isShort ? ' (short)' : ''}`;

interface SequenceFieldProps {
  readonly value: string;
  readonly error: string | undefined;
  readonly onInput: (name: string) => void;
}

/** The pause in typing after which suggestions are loaded, ms. */
const PAUSE = 250;
/** The most suggestions. */
const SUGGESTIONS = 20;

/** The name of a sequence, with the defined sequences as suggestions. */
export function SequenceField({ value, error, onInput }: SequenceFieldProps) {
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

interface SeriesFieldsProps {
  readonly options: MintOptions;
  readonly errors: FieldErrors;
  readonly onChange: (changes: Partial<MintOptions>) => void;
}

/** The name, format, period and tenant of a series. The store keeps only a digest of the format, so it is asked for. */
export function SeriesFields({ options, errors, onChange }: SeriesFieldsProps) {
  const { data = [] } = usePolling('', (signal) => api.series(signal), 10_000);
  const names = useId();
  return (
    <>
      <TextField
        label="Series"
        value={options.name}
        onInput={(name) => onChange({ name })}
        error={errors.name}
        list={names}
        hint="its name, such as invoices"
      />
      <datalist id={names}>
        {data.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <TextField
        label="Format"
        value={options.format}
        onInput={(format) => onChange({ format })}
        error={errors.format}
        placeholder="INV-{yyyy}-{n:6}"
        hint="as it is in your programs"
      />
      <SelectField
        label="Period"
        value={options.period}
        options={PERIODS.map((period) => [period, period] as const)}
        onChange={(period) => onChange({ period })}
        error={errors.period}
      />
      <TextField
        label="Tenant"
        value={options.tenant}
        onInput={(tenant) => onChange({ tenant })}
        error={errors.tenant}
        hint="empty for none"
      />
    </>
  );
}
