import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import styles from './chart.module.css';
import { useWidth } from './hooks.js';
import { Panel } from './panel.js';
import { type ChartSeries, dataOf, HEIGHT, makePlot, type Timed } from './plot.js';
import { onColours } from './theme.js';

export interface ChartProps<Point extends Timed> {
  readonly title: string;
  readonly points: readonly Point[];
  readonly series: readonly ChartSeries<Point>[];
  readonly format: (value: number) => string;
  /** The longest time that is shown, seconds. */
  readonly longest?: number;
  readonly actions?: ComponentChildren;
}

/** A line chart over time. Its legend has the current values, also for screen readers. */
export function Chart<Point extends Timed>(props: ChartProps<Point>) {
  const { title, points, series, format, longest = 600, actions } = props;
  const [frame, width] = useWidth<HTMLDivElement>();
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(points);
  latest.current = points;
  useEffect(() => {
    const draw = () => {
      plot.current?.destroy();
      plot.current = makePlot(frame.current as HTMLElement, series, format, latest.current, longest);
    };
    draw();
    const end = onColours(draw);
    return () => {
      end();
      plot.current?.destroy();
    };
  }, [longest]);
  useEffect(() => {
    if (width > 0) plot.current?.setSize({ width, height: HEIGHT });
  }, [width]);
  useEffect(() => plot.current?.setData(dataOf(points, series)), [points, series]);

  const last = points.at(-1);
  const values = series.map(({ label, read }) => {
    const value = last === undefined ? null : read(last);
    return [label, value === null ? '—' : format(value)] as const;
  });
  return (
    <Panel title={title} actions={actions}>
      <ul class="legend">
        {values.map(([label, value], i) => (
          <li key={label} class={styles[series[i]?.colour ?? '']}>
            <span class="swatch line" aria-hidden="true" />
            {label} <strong class="mono">{value}</strong>
          </li>
        ))}
      </ul>
      <div class={styles.frame}>
        <div
          class={styles.plot}
          ref={frame}
          role="img"
          aria-label={`${title}, now: ${values.map(([label, value]) => `${label} ${value}`).join(', ')}`}
        />
        {points.length === 0 && <p class={`muted ${styles.note}`}>Nothing was measured yet.</p>}
      </div>
    </Panel>
  );
}
