import type { ComponentChildren } from 'preact';
import { ApiError, AwayError, sentenceOf } from '../api/errors.js';
import { askAgain } from '../api/session.js';
import { Button } from './button.js';
import { Icon } from './icon.js';

interface Props {
  readonly children: ComponentChildren;
  readonly look?: 'error' | 'info';
}

/** A sentence that must be seen. */
export function Notice({ children, look = 'error' }: Props) {
  return (
    <div class={`notice ${look}`} role={look === 'error' ? 'alert' : undefined}>
      {look === 'error' && <Icon name="warning" />}
      <div>{children}</div>
    </div>
  );
}

/** What is wrong with what the page asks for. The banner and the token dialog tell of the rest. */
export function Trouble({ error }: { error: unknown }) {
  if (error === undefined || error instanceof AwayError) return null;
  const status = error instanceof ApiError ? error.status : 0;
  if (status === 401)
    return (
      <Notice look="info">
        This server shows nothing without a token. <Button onClick={askAgain}>Give a token</Button>
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

/** What stands where there is nothing yet. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Grey lines in the place of what is being loaded. */
export function Loading({ what, lines = 3 }: { what: string; lines?: number }) {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading {what}</span>
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} class="loading-line" />
      ))}
    </div>
  );
}
