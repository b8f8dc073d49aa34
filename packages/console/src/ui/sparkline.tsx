/** The size of a sparkline, in units that the stylesheet scales. */
const [WIDTH, HEIGHT] = [120, 24];

/** The most points: more would be narrower than a pixel. */
const MOST = 60;

/** A small line of a quantity over time. Its numbers stand beside it. */
export function Sparkline({ values, label }: { values: readonly (number | null)[]; label: string }) {
  const shown = thinned(values);
  const highest = Math.max(...shown.map((value) => value ?? 0), Number.MIN_VALUE);
  const x = (i: number) => (shown.length < 2 ? WIDTH : (i / (shown.length - 1)) * WIDTH);
  const y = (value: number) => HEIGHT - 2 - (value / highest) * (HEIGHT - 4);
  let isOpen = false;
  const path = shown
    .map((value, i) => {
      if (value === null) {
        isOpen = false;
        return '';
      }
      const point = `${isOpen ? 'L' : 'M'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
      isOpen = true;
      return point;
    })
    .join('');
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path d={path} />
    </svg>
  );
}

/** At most {@link MOST} values, each the mean of its neighbours. */
function thinned(values: readonly (number | null)[]): (number | null)[] {
  const size = Math.max(1, Math.ceil(values.length / MOST));
  const groups = Math.ceil(values.length / size);
  return Array.from({ length: groups }, (_, i) => {
    const known = values.slice(i * size, (i + 1) * size).filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
  });
}
