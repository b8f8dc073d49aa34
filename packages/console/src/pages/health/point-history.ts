import { hasRestarted, type MetricsSnapshot, type Point, pointBetween } from '../../lib/metrics-snapshot.js';

/** The number of points to keep: five minutes. */
const MAX_POINTS = 300;

/** Snapshots further apart than this are not compared, ms. */
const MAX_GAP = 6000;

/** The history outlives the page, so that a user who comes back sees all of it. */
let last: MetricsSnapshot | undefined;
let points: readonly Point[] = [];

/** Adds a snapshot to the history, and returns all points. */
export function recordSnapshot(snapshot: MetricsSnapshot): readonly Point[] {
  if (last !== undefined && snapshot.at - last.at < MAX_GAP && !hasRestarted(last, snapshot))
    points = [...points, pointBetween(last, snapshot)].slice(-MAX_POINTS);
  last = snapshot;
  return points;
}
