import { useId } from 'preact/hooks';
import { api } from '../../api/routes.js';
import type { FieldErrors } from '../../lib/field-errors.js';
import { SelectField, TextField } from '../../ui/field.js';
import { usePolling } from '../../ui/use-polling.js';
import { type MintOptions, PERIODS } from './families.js';

interface Props {
  readonly options: MintOptions;
  readonly errors: FieldErrors;
  readonly onChange: (changes: Partial<MintOptions>) => void;
}

/** The name, format, period and tenant of a series. The store keeps only a digest of the format, so it is asked for. */
export function SeriesFields({ options, errors, onChange }: Props) {
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
