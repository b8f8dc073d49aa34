import type { PublicPrefix } from '../../api/types.js';
import { SelectField } from '../../ui/field.js';

interface Props {
  readonly prefixes: readonly PublicPrefix[];
  /** The chosen prefix; empty for none. */
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (prefix: string) => void;
}

/** The choice of the prefix of public ids. */
export function PublicField({ prefixes, value, error, onChange }: Props) {
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
