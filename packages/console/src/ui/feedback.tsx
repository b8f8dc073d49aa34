import type { ComponentChildren } from 'preact';
import { ApiError, sentenceOf, UnreachableError } from '../api/errors.js';
import { promptForToken } from '../api/session.js';
import { Button } from './button.js';
import { Icon } from './icon.js';

interface Props {
  readonly children: ComponentChildren;
  readonly look?: 'error' | 'info';
}

/** A message in a box. */
export function Notice({ children, look = 'error' }: Props) {
  return (
    <div class={`notice ${look}`} role={look === 'error' ? 'alert' : undefined}>
      {look === 'error' && <Icon name="warning" />}
      <div>{children}</div>
    </div>
  );
}

/** A message in place of content that does not exist yet. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Grey lines in place of content that is loading. */
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
