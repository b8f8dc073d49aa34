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
  /** True while the action of the button runs. */
  readonly isBusy?: boolean;
  readonly onClick?: () => void;
}

export function Button({ children, look = 'plain', icon, label, submit, disabled, isBusy, onClick }: Props) {
  return (
    <button
      type={submit ? 'submit' : 'button'}
      class={`button ${look}${children === undefined ? ' bare' : ''}`}
      aria-label={label}
      title={children === undefined ? label : undefined}
      aria-busy={isBusy}
      disabled={disabled || isBusy}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
