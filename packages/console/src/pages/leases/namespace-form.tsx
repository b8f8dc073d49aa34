import { useId, useState } from 'preact/hooks';
import { typedNumber } from '../../lib/typed-number.js';
import { shortName } from '../../lib/visible-text.js';
import { hrefOf } from '../../router.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/field.js';
import { FormError, useSubmit } from '../../ui/use-submit.js';

interface Props {
  readonly namespace: string;
  /** The namespaces of the store, as far as they are known. */
  readonly known: readonly string[];
  readonly size: number;
  readonly error: string | undefined;
  readonly onShow: (namespace: string, size: number | undefined) => void;
}

/** The largest number of node ids in a namespace. */
const LARGEST = 2 ** 32;

/** The namespace to show, and its number of node ids, where the namespace remembers no layout. */
export function NamespaceForm({ namespace, known, size, error, onShow }: Props) {
  const [name, setName] = useState(namespace);
  const [typedSize, setTypedSize] = useState('');
  const list = useId();

  const { errors, isBusy, submit } = useSubmit(['namespace', 'size'], async () => {
    if (name === '') throw new FormError({ namespace: 'Enter a namespace.' });
    const typed = typedNumber('The number of node ids', typedSize);
    if ('error' in typed) throw new FormError({ size: typed.error });
    if (typed.value !== undefined && (typed.value < 1 || typed.value > LARGEST))
      throw new FormError({ size: 'The number of node ids must be from 1 to 2^32.' });
    onShow(name, typed.value);
    location.hash = hrefOf('leases', name);
  });

  return (
    <form class="panel row" onSubmit={submit} noValidate>
      <TextField
        label="Namespace"
        value={name}
        onInput={setName}
        list={list}
        hint={
          known.length === 0
            ? 'the name that generators use'
            : known.length > 6
              ? `${known.length} are listed above`
              : `the store has ${known.map(shortName).join(', ')}`
        }
        error={errors.namespace ?? error}
      />
      <datalist id={list}>
        {known.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <TextField
        label="Node ids"
        value={typedSize}
        onInput={setTypedSize}
        placeholder={size === 0 ? '' : String(size)}
        hint="detected if empty"
        error={errors.size}
        isNumber
      />
      <Button look="primary" submit isBusy={isBusy}>
        Show
      </Button>
    </form>
  );
}
