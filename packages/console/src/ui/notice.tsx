import type { ComponentChildren } from 'preact';
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
