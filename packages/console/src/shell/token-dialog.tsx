import { useState } from 'preact/hooks';
import { refreshAll } from '../api/connection.js';
import { ApiError } from '../api/errors.js';
import { api } from '../api/routes.js';
import { acceptToken, dismissPrompt, tokenPrompt } from '../api/session.js';
import { WHOLE_FORM } from '../lib/field-errors.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { useObservable } from '../ui/hooks.js';
import { showToast } from '../ui/toast.js';
import { FormError, useSubmit } from '../ui/use-submit.js';

/** Asks for a token when the server requires one. */
export function TokenDialog() {
  const reason = useObservable(tokenPrompt);
  return reason === '' ? null : <Ask isRefused={reason === 'refused'} />;
}

const REVOKED = 'The server no longer accepts the token of this tab. It may have been revoked.';

function Ask({ isRefused }: { isRefused: boolean }) {
  const [value, setValue] = useState('');
  const { errors, isBusy, submit } = useSubmit(['token'], async () => {
    const token = value.trim();
    if (token === '') throw new FormError({ token: 'Enter a token.' });
    // A header cannot carry other characters.
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new FormError({ token: 'This is not a token: it contains spaces or special characters.' });
    await api.tryToken(token).catch(explain);
    acceptToken(token);
    refreshAll();
    showToast('Token accepted.');
  });
  const error = errors.token ?? errors[WHOLE_FORM] ?? (isRefused ? REVOKED : undefined);

  return (
    <Dialog title="This server requires a token" onClose={dismissPrompt}>
      <form class="stack" onSubmit={submit} noValidate>
        <p>
          Create a token with{' '}
          <code>
            idsmith token create <span class="unbroken">--scope mint,lease,admin</span>{' '}
            <span class="unbroken">--name console</span>
          </code>
          . This tab keeps the token until you close it.
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
          <Button onClick={dismissPrompt}>Not now</Button>
          <Button look="primary" submit isBusy={isBusy}>
            Use token
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** @throws FormError when the server does not know the token */
function explain(error: unknown): never {
  if (error instanceof ApiError && error.status === 401)
    throw new FormError({ token: `The server rejects this token: ${error.message}.` });
  throw error;
}
