import { observable } from '../observable.js';

export const THEMES = ['auto', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];

const KEY = 'idsmith.theme';

const stored = localStorage.getItem(KEY) as Theme | null;

/** The theme that the user chose. `auto` follows the system. */
export const theme = observable<Theme>(stored !== null && THEMES.includes(stored) ? stored : 'auto');

function apply(value: Theme): void {
  document.documentElement.dataset.theme = value;
}

apply(theme.get());
theme.subscribe((value) => {
  localStorage.setItem(KEY, value);
  apply(value);
});

/** Calls the listener whenever colours may have changed. Returns a function that ends the subscription. */
export function onColours(listener: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', listener);
  const end = theme.subscribe(listener);
  return () => {
    system.removeEventListener('change', listener);
    end();
  };
}

/** A colour of the stylesheet, in a form that a canvas accepts. */
export function colourOf(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  probe.hidden = true;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
