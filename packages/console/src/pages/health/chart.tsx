import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { Point } from '../../lib/metrics-snapshot.js';
import { Panel } from '../../ui/panel.js';
import { onColours } from '../../ui/theme.js';
import { useWidth } from '../../ui/use-width.js';
import styles from './chart.module.css';
import { dataOf, HEIGHT, makePlot } from './plot.js';

/** A line of a chart. */
export interface Series {
  readonly label: string;
  /** The name of a colour in the stylesheet. */
  readonly colour: string;
  readonly read: (point: Point) => number | null;
}

export interface ChartProps {
  readonly title: string;
  readonly points: readonly Point[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
}

/** A line chart over time. Its legend has the current values, also for screen readers. */
export function Chart({ title, points, series, format }: ChartProps) {
  const [frame, width] = useWidth<HTMLDivElement>();
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(points);
  latest.current = points;
  useEffect(() => {
    const draw = () => {
      plot.current?.destroy();
      plot.current = makePlot(frame.current as HTMLElement, series, format, latest.current);
    };
    draw();
    const end = onColours(draw);
    return () => {
      end();
      plot.current?.destroy();
    };
  }, []);
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
    <Panel title={title}>
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
        {points.length < 2 && (
          <p class={`muted ${styles.note}`}>The chart starts with the second measurement.</p>
        )}
      </div>
    </Panel>
  );
}
