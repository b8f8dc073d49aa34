import { useState } from 'preact/hooks';
import { refreshAll } from '../api/connection.js';
import { ApiError, sentenceOf } from '../api/errors.js';
import { api } from '../api/routes.js';
import { accept, putOff, wanted } from '../api/session.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { say } from '../ui/toast.js';
import { useObservable } from '../ui/use-observable.js';

/** Asks for a token when the server wants one. */
export function TokenDialog() {
  const reason = useObservable(wanted);
  return reason === '' ? null : <Ask isRefused={reason === 'refused'} />;
}

function Ask({ isRefused }: { isRefused: boolean }) {
  const [value, setValue] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState(
    isRefused ? 'The token of this tab is not known to the server, or was revoked.' : undefined,
  );

  const submit = async (event: Event) => {
    event.preventDefault();
    const token = value.trim();
    if (token === '') return setError('A token is needed.');
    // What a header cannot carry, no server has given out.
    if (!/^[\x21-\x7e]+$/.test(token))
      return setError('This is not a token: it has spaces or odd characters.');
    setBusy(true);
    try {
      await api.tryToken(token);
      accept(token);
      refreshAll();
      say('The token is accepted.');
    } catch (failure) {
      const isKnown = failure instanceof ApiError && failure.status === 401;
      setError(isKnown ? `The server refuses it: ${failure.message}.` : sentenceOf(failure));
      setBusy(false);
    }
  };

  return (
    <Dialog title="This server wants a token" onClose={putOff}>
      <form class="stack" onSubmit={submit} noValidate>
        <p>
          Make one with <code>idsmith token create --scope mint,lease,admin --name console</code>. It is kept
          in this tab only.
        </p>
        <Field label="Token" error={error}>
          {(attributes) => (
            <input
              {...attributes}
              type="password"
              autocomplete="off"
              value={value}
              onInput={(event) => setValue(event.currentTarget.value)}
            />
          )}
        </Field>
        <div class="dialog-foot">
          <Button onClick={putOff}>Not now</Button>
          <Button look="primary" submit isBusy={isBusy}>
            Use token
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
