import { day, relative, short, span } from '../../lib/format.js';
import type { Forecast } from '../../lib/sequence-rate.js';

const TEXTS = {
  measuring: 'measuring',
  exhausted: 'has run out',
  cycle: 'never (starts over)',
};

/** A date closer than this is a warning, ms. */
const SOON = 30 * 86_400_000;

/** The time when a sequence runs out. */
export function ForecastText({ forecast }: { forecast: Forecast }) {
  if (forecast.kind === 'far') return <span class="muted">in {short(Math.round(forecast.years))} years</span>;
  if (forecast.kind === 'idle') return <span class="muted">no ids for {span(forecast.ms)}</span>;
  if (forecast.kind !== 'date') return <span class="muted">{TEXTS[forecast.kind]}</span>;
  const now = Date.now();
  return (
    <span class={forecast.at - now < SOON ? 'warn-text' : undefined}>
      <span class="mono">{day(forecast.at)}</span> <span class="muted">{relative(forecast.at, now)}</span>
    </span>
  );
}
