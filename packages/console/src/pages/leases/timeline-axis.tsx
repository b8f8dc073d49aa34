import styles from './timeline-axis.module.css';

interface Props {
  readonly x: (at: number) => number;
  readonly now: number;
  readonly from: number;
  readonly to: number;
  readonly height: number;
}

/** The possible distances between two ticks, ms. */
const TICKS = [30_000, 60_000];
/** The width of the label of a tick, pixels. */
const LABEL_WIDTH = 48;

/** The time axis: seconds before and after now. */
export function TimelineAxis({ x, now, from, to, height }: Props) {
  const tick = TICKS.find((ms) => x(now + ms) - x(now) >= LABEL_WIDTH) ?? 60_000;
  const offsets = [];
  for (let at = from; at <= to; at += tick) offsets.push(at - now);
  return (
    <g class={styles.axis}>
      {offsets.map((offset) => (
        <g key={offset} class={offset === 0 ? styles.now : undefined}>
          <line x1={x(now + offset)} x2={x(now + offset)} y1="16" y2={height} />
          <text x={x(now + offset)} y="11" class={offset === to - now ? styles.last : undefined}>
            {offset === 0 ? 'now' : `${offset > 0 ? '+' : '−'}${Math.abs(offset) / 1000} s`}
          </text>
        </g>
      ))}
    </g>
  );
}
