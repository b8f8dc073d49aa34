import { ApiError, sentenceOf, UnreachableError } from '../api/errors.js';
import { promptForToken } from '../api/session.js';
import { Button } from './button.js';
import { Notice } from './notice.js';

/** What is wrong with what the page asks for. The banner and the token dialog tell of the rest. */
export function RequestError({ error }: { error: unknown }) {
  if (error === undefined || error instanceof UnreachableError) return null;
  const status = error instanceof ApiError ? error.status : 0;
  if (status === 401)
    return (
      <Notice look="info">
        This server shows nothing without a token. <Button onClick={promptForToken}>Give a token</Button>
      </Notice>
    );
  return (
    <Notice>
      {status === 403 && <strong>This is not allowed. </strong>}
      {status === 503 && <strong>The server cannot do this at present. </strong>}
      {sentenceOf(error)}
    </Notice>
  );
}
