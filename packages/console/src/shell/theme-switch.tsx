import { Button } from '../ui/button.js';
import { THEMES, type Theme, theme } from '../ui/theme.js';
import { useObservable } from '../ui/use-observable.js';

const SHOWN = {
  auto: { icon: 'auto', label: 'system' },
  light: { icon: 'sun', label: 'light' },
  dark: { icon: 'moon', label: 'dark' },
} as const;

/** Switches to the next theme. */
export function ThemeSwitch() {
  const current = useObservable(theme);
  const next = THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] as Theme;
  return (
    <Button
      look="quiet"
      icon={SHOWN[current].icon}
      label={`Theme: ${SHOWN[current].label}. Switch to ${SHOWN[next].label}`}
      onClick={() => theme.set(next)}
    />
  );
}
