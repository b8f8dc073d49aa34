import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Frame {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  /** Renders the input with attributes that connect it to its label, hint and error. */
  readonly children: (attributes: InputAttributes) => ComponentChildren;
  readonly class?: string;
}

interface InputAttributes {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
}

/** A label, an input, and a note with the hint or the error. */
export function Field({ label, hint, error, children, class: name = '' }: Frame) {
  const id = useId();
  const noteId = `${id}-note`;
  const hasNote = error !== undefined || hint !== undefined;
  return (
    <div class={`field ${name}${error === undefined ? '' : ' wrong'}`}>
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': hasNote ? noteId : undefined,
        'aria-invalid': error !== undefined,
      })}
      <div id={noteId} class="note" aria-live="polite">
        {error ?? hint}
      </div>
    </div>
  );
}

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly placeholder?: string;
  /** The id of a `datalist` with suggestions. */
  readonly list?: string;
  readonly isNumber?: boolean;
}

/** A line of text. Numbers are text too, because an input of type number loses digits of large numbers. */
export function TextField(props: TextProps) {
  const { label, value, onInput, hint, error, placeholder, list, isNumber } = props;
  return (
    <Field label={label} hint={hint} error={error} class={isNumber ? 'short' : ''}>
      {(attributes) => (
        <input
          {...attributes}
          type="text"
          class={isNumber ? 'number' : undefined}
          inputMode={isNumber ? 'numeric' : undefined}
          autocomplete="off"
          spellcheck={false}
          value={value}
          placeholder={placeholder}
          {...(list !== undefined && { list })}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface SelectProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [value: T, label: string])[];
  readonly onChange: (value: T) => void;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
}

/** A choice of one option from a list that opens. */
export function SelectField<T extends string>(props: SelectProps<T>) {
  const { label, value, options, onChange, hint, error } = props;
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <select {...attributes} value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
