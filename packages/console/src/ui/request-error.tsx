import { ApiError, sentenceOf, UnreachableError } from '../api/errors.js';
import { promptForToken } from '../api/session.js';
import { Button } from './button.js';
import { Notice } from './notice.js';

/** The error of a request. The banner reports an unreachable server, so this component does not. */
export function RequestError({ error }: { error: unknown }) {
  if (error === undefined || error instanceof UnreachableError) return null;
  const status = error instanceof ApiError ? error.status : 0;
  if (status === 401)
    return (
      <Notice look="info">
        This server requires a token. <Button onClick={promptForToken}>Enter a token</Button>
      </Notice>
    );
  return (
    <Notice>
      {status === 403 && <strong>Not allowed. </strong>}
      {status === 503 && <strong>The server cannot do this right now. </strong>}
      {sentenceOf(error)}
    </Notice>
  );
}
