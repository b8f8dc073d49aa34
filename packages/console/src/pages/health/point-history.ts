import { hasRestarted, type MetricsSnapshot, type Point, pointBetween } from '../../lib/metrics-snapshot.js';

/** How many points are kept: a few minutes. */
const KEPT = 300;

/** Looks further apart than this have nothing to do with each other, ms. */
const GAP = 6000;

/** What was recordSnapshot. It outlives the page, so that coming back shows it all. */
let last: MetricsSnapshot | undefined;
let points: readonly Point[] = [];

/** The points to be drawn, with what a snapshot at the metrics adds. */
export function recordSnapshot(snapshot: MetricsSnapshot): readonly Point[] {
  if (last !== undefined && snapshot.at - last.at < GAP && !hasRestarted(last, snapshot))
    points = [...points, pointBetween(last, snapshot)].slice(-KEPT);
  last = snapshot;
  return points;
}
