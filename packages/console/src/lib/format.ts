// Numbers and times for people. Always in English, so that screenshots look the same everywhere.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** `10,001`. Exact for numbers of any size. */
export function digits(value: bigint | number | string): string {
  return whole.format(typeof value === 'string' ? BigInt(value) : value);
}

/** `4,711`, `1.2M`. */
export const short = (value: number | bigint) => (value < 1e6 ? whole : compact).format(value);

/** `12 %`, `0.03 %`, `< 0.01 %`. Only an empty share gives 0, and only a whole one gives 100. */
export function percent(share: number): string {
  const value = share * 100;
  if (value === 0 || value === 100) return `${value} %`;
  if (value < 0.01) return '< 0.01 %';
  if (value > 99.99) return '> 99.99 %';
  return `${value.toFixed(value < 1 || value > 99 ? 2 : 1)} %`;
}

/** `0`, `0.25`, `12.5`, `1,200`. */
export function perSecond(rate: number): string {
  if (rate > 0 && rate < 0.01) return '< 0.01';
  return rate < 100 ? String(Number(rate.toFixed(rate < 1 ? 2 : 1))) : whole.format(rate);
}

/** `820 µs`, `1.3 ms`, `2.4 s`. */
export function duration(seconds: number): string {
  if (seconds === 0) return '0 ms';
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(0)} µs`;
  if (seconds < 1) return `${(seconds * 1e3).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
}

/** `84 MB`. */
export const megabytes = (bytes: number) => `${whole.format(bytes / 1e6)} MB`;

/** `2012-10-15 18:58:13`. */
export function utc(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

/** `2031-04-02`. */
export const day = (ms: number) => utc(ms).slice(0, 10);

const STEPS: readonly (readonly [unit: string, seconds: number])[] = [
  ['year', 31_556_952],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/** `3 hours`, `1 minute`, `12 seconds`. */
export function span(ms: number): string {
  const seconds = Math.floor(Math.abs(ms) / 1000);
  const [unit, size] = STEPS.find(([, size]) => seconds >= size) ?? ['second', 1];
  const count = Math.floor(seconds / size);
  return `${whole.format(count)} ${unit}${count === 1 ? '' : 's'}`;
}

/** `3 hours ago`, `in 5 days`, `just now`. */
export function relative(ms: number, now: number): string {
  const difference = ms - now;
  if (Math.abs(difference) < 1000) return 'just now';
  return difference < 0 ? `${span(difference)} ago` : `in ${span(difference)}`;
}
