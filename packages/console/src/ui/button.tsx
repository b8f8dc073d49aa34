import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.js';

interface Props {
  readonly children?: ComponentChildren;
  readonly look?: 'primary' | 'plain' | 'danger' | 'quiet';
  readonly icon?: IconName;
  /** For buttons that have nothing but an icon, or whose text does not say what it is about. */
  readonly label?: string;
  readonly submit?: boolean;
  readonly disabled?: boolean;
  /** Whether it is at work. */
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
