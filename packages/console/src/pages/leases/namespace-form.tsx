import { useId, useState } from 'preact/hooks';
import { typedNumber } from '../../lib/typed-number.js';
import { hrefOf } from '../../router.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/field.js';
import { FormError, useSubmit } from '../../ui/use-submit.js';

interface Props {
  readonly namespace: string;
  /** Those that the server itself uses. */
  readonly known: readonly string[];
  readonly size: number;
  readonly error: string | undefined;
  readonly onShow: (namespace: string, size: number | undefined) => void;
}

/** No namespace has more node ids. */
const LARGEST = 2 ** 32;

/** Which namespace to look at, and how many node ids it has: the store does not know. */
export function NamespaceForm({ namespace, known, size, error, onShow }: Props) {
  const [name, setName] = useState(namespace);
  const [typedSize, setTypedSize] = useState('');
  const list = useId();

  const { errors, isBusy, submit } = useSubmit(['namespace', 'size'], async () => {
    if (name === '') throw new FormError({ namespace: 'A namespace is needed.' });
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
        hint={known.length === 0 ? 'as generators name it' : `this server uses ${known.join(', ')}`}
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
        hint="as many as it seems, if empty"
        error={errors.size}
        isNumber
      />
      <Button look="primary" submit isBusy={isBusy}>
        Show
      </Button>
    </form>
  );
}
