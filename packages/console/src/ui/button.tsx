import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.js';

interface Props {
  readonly children?: ComponentChildren;
  readonly look?: 'primary' | 'plain' | 'danger' | 'quiet';
  readonly icon?: IconName;
  /** The name for screen readers, for a button with only an icon or with a short text. */
  readonly label?: string;
  readonly submit?: boolean;
  readonly disabled?: boolean;
  /** The reason why the user may not do this. The button then does nothing, but can be reached to learn the reason. */
  readonly refusal?: string | undefined;
  /** True while the action of the button runs. */
  readonly isBusy?: boolean;
  readonly onClick?: () => void;
}

export function Button(props: Props) {
  const { children, look = 'plain', icon, label, submit, disabled, refusal, isBusy, onClick } = props;
  const isRefused = refusal !== undefined;
  return (
    <button
      type={submit && !isRefused ? 'submit' : 'button'}
      class={`button ${look}${children === undefined ? ' bare' : ''}`}
      aria-label={label}
      title={refusal ?? (children === undefined ? label : undefined)}
      aria-disabled={isRefused || undefined}
      aria-description={refusal}
      aria-busy={isBusy}
      disabled={disabled || isBusy}
      onClick={isRefused ? undefined : onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
