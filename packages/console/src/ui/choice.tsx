import { useId } from 'preact/hooks';

interface Props<T extends string> {
  readonly legend: string;
  readonly value: T;
  readonly options: readonly (readonly [value: T, label: string])[];
  readonly onChange: (value: T) => void;
  /** True if only screen readers should get the legend. */
  readonly isQuiet?: boolean;
}

/** True if three options fit beside each other on a phone. */
const isBrief = (options: Props<string>['options']) => options.every(([, label]) => label.length <= 10);

/** A choice of one option, with all options visible. */
export function Choice<T extends string>({ legend, value, options, onChange, isQuiet }: Props<T>) {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend class={isQuiet ? 'visually-hidden' : undefined}>{legend}</legend>
      <div class={`choices${options.length === 3 && isBrief(options) ? ' thirds' : ''}`}>
        {options.map(([option, label]) => (
          <label key={option} class={option === value ? 'chosen' : undefined}>
            <input
              type="radio"
              name={name}
              value={option}
              checked={option === value}
              onChange={() => onChange(option)}
            />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
