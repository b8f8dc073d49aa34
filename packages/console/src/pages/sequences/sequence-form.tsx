import { useState } from 'preact/hooks';
import { api } from '../../api/routes.js';
import type { SequenceJson } from '../../api/types.js';
import { WHOLE_FORM } from '../../lib/field-errors.js';
import { shortName } from '../../lib/visible-text.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Notice } from '../../ui/feedback.js';
import { TextField } from '../../ui/field.js';
import { FormError, useSubmit } from '../../ui/use-submit.js';
import { changesIn, EMPTY_FORM, type FormValues, valuesOf } from './form-values.js';
import styles from './sequences.module.css';

interface Props {
  /** The sequence to alter; left out to define a new one. */
  readonly sequence?: SequenceJson;
  readonly onDone: (sentence: string) => void;
  readonly onClose: () => void;
}

const FIELDS = ['name', 'start', 'next', 'blockSize', 'step', 'min', 'max', 'cycle'];

/** Defines or alters a sequence. */
export function SequenceForm({ sequence, onDone, onClose }: Props) {
  // The values when the form was opened. The store may have moved on since then.
  const [before] = useState(sequence === undefined ? EMPTY_FORM : valuesOf(sequence));
  const [values, setValues] = useState<FormValues>(before);
  const isNew = sequence === undefined;

  const { errors, isBusy, submit } = useSubmit(FIELDS, async () => {
    const changes = changesIn(values, before);
    if (isNew) {
      if (values.name === '') throw new FormError({ name: 'Enter a name.' });
      await api.define({ name: values.name, ...changes });
      return onDone(`Sequence ${shortName(values.name)} is defined.`);
    }
    if (Object.keys(changes).length === 0)
      throw new FormError({ [WHOLE_FORM]: 'Change at least one field.' });
    await api.alter(before.name, changes);
    onDone(`Sequence ${shortName(before.name)} is altered.`);
  });

  const field = (name: Exclude<keyof FormValues, 'cycle'>, label: string, hint: string) => (
    <TextField
      label={label}
      value={values[name]}
      onInput={(value) => setValues((last) => ({ ...last, [name]: value }))}
      hint={hint}
      error={errors[name]}
      isNumber={name !== 'name'}
    />
  );

  return (
    <Dialog title={isNew ? 'Define a sequence' : `Alter ${shortName(before.name)}`} onClose={onClose}>
      <form class="stack" onSubmit={submit} noValidate>
        <div class={styles.grid}>
          {isNew && field('name', 'Name', 'up to 255 characters')}
          {field('blockSize', 'Block size', isNew ? 'ids per block; 20 if empty' : 'ids per block')}
          {isNew
            ? field('start', 'Start', 'the first id; 1 if empty')
            : field('next', 'Next', 'forward only')}
          {field('step', 'Step', isNew ? '1 if empty; negative counts down' : 'the sign cannot change')}
          {field('min', 'Lowest id', isNew ? '−2^63 if empty' : 'a whole number')}
          {field('max', 'Highest id', isNew ? '2^63 − 1 if empty' : 'a whole number')}
        </div>
        <label class={styles.check}>
          <input
            type="checkbox"
            checked={values.cycle}
            onChange={(event) => {
              const cycle = event.currentTarget.checked;
              setValues((last) => ({ ...last, cycle }));
            }}
          />
          <span>
            Start over at the end
            <span class="note"> Ids then repeat. Use this only for ids that nobody stores.</span>
          </span>
        </label>
        {!isNew && <Preview values={values} before={before} />}
        {errors.cycle && <Notice>{errors.cycle}</Notice>}
        {errors[WHOLE_FORM] && <Notice>{errors[WHOLE_FORM]}</Notice>}
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" submit isBusy={isBusy}>
            {isNew ? 'Define' : 'Alter'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const LABELS: Readonly<Record<string, string>> = {
  next: 'Next',
  blockSize: 'Block size',
  step: 'Step',
  min: 'Lowest id',
  max: 'Highest id',
  cycle: 'Start over at the end',
};

/** What the form will change: nothing else is sent. */
function Preview({ values, before }: { values: FormValues; before: FormValues }) {
  let changes: object;
  try {
    changes = changesIn(values, before);
  } catch {
    return null;
  }
  const shown = Object.entries(changes);
  if (shown.length === 0) return <p class="note">Nothing is changed yet.</p>;
  return (
    <Notice look="info">
      <ul>
        {shown.map(([name, value]) => (
          <li key={name}>
            {LABELS[name] ?? name}: <span class="mono">{String(before[name as keyof FormValues])}</span> →{' '}
            <strong class="mono">{String(value)}</strong>
          </li>
        ))}
      </ul>
      {'next' in changes && <p>The ids in between are never given out. Next cannot go back.</p>}
    </Notice>
  );
}
