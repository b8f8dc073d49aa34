import uPlot from 'uplot';
import type { Point } from '../../lib/metrics-snapshot.js';
import { colourOf } from '../../ui/theme.js';
import type { Series } from './chart.js';

/** The height of a chart, pixels. */
export const HEIGHT = 190;

/** The time range of a chart, seconds. The range starts short, so that the first points are easy to see. */
const SHORTEST = 30;
const LONGEST = 120;

/** A longer time without a measurement interrupts the line, ms. */
const GAP = 5000;

/** The points in the format of uPlot: times in seconds, then one array for each line. */
export function dataOf(points: readonly Point[], series: readonly Series[]): uPlot.AlignedData {
  const times = points.map(({ at }) => at / 1000);
  const rows = series.map(({ read }) => points.map(read));
  for (let i = points.length - 1; i > 0; i--) {
    if (points[i]!.at - points[i - 1]!.at < GAP) continue;
    times.splice(i, 0, points[i]!.at / 1000 - 1);
    for (const row of rows) row.splice(i, 0, null);
  }
  return [times, ...rows];
}

export function makePlot(
  frame: HTMLElement,
  series: readonly Series[],
  format: (value: number) => string,
  points: readonly Point[],
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
        x: { time: true, range: (plot) => rangeOf(plot.data[0][0], Date.now() / 1000) },
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

function rangeOf(first: number | undefined, now: number): [number, number] {
  const shown = Math.min(Math.max(now - (first ?? now), SHORTEST), LONGEST);
  return [now - shown, now];
}

/** `18:58:13`, in local time. */
const clock = (seconds: number) => new Date(seconds * 1000).toTimeString().slice(0, 8);
