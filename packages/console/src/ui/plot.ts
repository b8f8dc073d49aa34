import uPlot from 'uplot';
import { colourOf } from './theme.js';

/** Values at one moment. */
export interface Timed {
  /** Unix ms. */
  readonly at: number;
}

/** A line of a chart. */
export interface ChartSeries<Point extends Timed> {
  readonly label: string;
  /** The name of a colour in the stylesheet. */
  readonly colour: string;
  readonly read: (point: Point) => number | null;
}

/** The height of a chart, pixels. */
export const HEIGHT = 190;

/** The time range of a chart, seconds. The range starts short, so that the first points are easy to see. */
const SHORTEST = 30;

/** A pause of so many usual ones interrupts the line. */
const GAP = 3;

/** The points in the format of uPlot: times in seconds, then one array for each line. */
export function dataOf<Point extends Timed>(
  points: readonly Point[],
  series: readonly ChartSeries<Point>[],
): uPlot.AlignedData {
  const times = points.map(({ at }) => at / 1000);
  const rows = series.map(({ read }) => points.map(read));
  // Measurements of the past are further apart than those of the page.
  const pauses = points.slice(1).map(({ at }, i) => at - points[i]!.at);
  const gap = Math.max(...pauses.slice(0, 1), 5000) * GAP;
  for (let i = points.length - 1; i > 0; i--) {
    if (points[i]!.at - points[i - 1]!.at < gap) continue;
    times.splice(i, 0, points[i]!.at / 1000 - 1);
    for (const row of rows) row.splice(i, 0, null);
  }
  return [times, ...rows];
}

export function makePlot<Point extends Timed>(
  frame: HTMLElement,
  series: readonly ChartSeries<Point>[],
  format: (value: number) => string,
  points: readonly Point[],
  longest: number,
): uPlot {
  const [ink, grid] = [colourOf('muted'), colourOf('line')];
  const axis = {
    stroke: ink,
    ticks: { stroke: grid, width: 1, size: 4 },
    font: '11px system-ui, sans-serif',
  };
  return new uPlot(
    {
      width: frame.clientWidth || 300,
      height: HEIGHT,
      padding: [10, 30, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 6 } },
      scales: {
        x: { time: true, range: (plot) => rangeOf(plot.data[0][0], Date.now() / 1000, longest) },
        y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.06 : 1] },
      },
      axes: [
        { ...axis, grid: { show: false }, space: 80, size: 30, values: (_plot, splits) => splits.map(clock) },
        {
          ...axis,
          grid: { stroke: grid, width: 1 },
          size: 64,
          space: 34,
          values: (_plot, splits) => splits.map(format),
        },
      ],
      series: [
        {},
        ...series.map(({ label, colour }) => ({
          label,
          stroke: colourOf(colour),
          width: 1.75,
          points: { show: false },
        })),
      ],
    },
    dataOf(points, series),
    frame,
  );
}

function rangeOf(first: number | undefined, now: number, longest: number): [number, number] {
  const shown = Math.min(Math.max(now - (first ?? now), SHORTEST), longest);
  return [now - shown, now];
}

/** `18:58:13`, in local time. */
const clock = (seconds: number) => new Date(seconds * 1000).toTimeString().slice(0, 8);
