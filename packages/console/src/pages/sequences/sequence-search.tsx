import { useEffect, useRef, useState } from 'preact/hooks';
import { replaceRest } from '../../router.js';
import { SelectField, TextField } from '../../ui/field.js';

/** The pause in typing after which the search starts, ms. */
const PAUSE = 250;

export const SORTS = [
  ['name', 'name'],
  ['runOut', 'runs out next'],
  ['-handedOut', 'most ids handed out'],
  ['-next', 'highest next id'],
  ['-blockSize', 'largest blocks'],
] as const;

export type Sort = (typeof SORTS)[number][0];

interface Props {
  readonly wanted: string;
  readonly sort: Sort;
}

/** The search in the names, which is part of the address, and the order of the list. */
export function SequenceSearch({ wanted, sort }: Props) {
  const [text, setText] = useState(wanted);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  // The address decides, so that links and the Back button work.
  useEffect(() => setText((typed) => (typed.trim() === wanted ? typed : wanted)), [wanted]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const show = (q: string, order: Sort) =>
    replaceRest('sequences', '', { q, sort: order === 'name' ? '' : order });
  const search = (value: string, pause: number) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => show(value.trim(), sort), pause);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    search(text, 0);
  };
  return (
    <form class="row" onSubmit={submit} noValidate>
      <TextField label="Search names" value={text} onInput={(value) => search(value, PAUSE)} />
      <SelectField
        label="Sort by"
        value={sort}
        options={SORTS}
        onChange={(order: Sort) => show(text.trim(), order)}
      />
    </form>
  );
}
