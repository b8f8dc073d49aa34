import { isAnew, type Look, type Point, pointBetween } from '../../lib/metrics-snapshot.js';

/** How many points are kept: a few minutes. */
const KEPT = 300;

/** Looks further apart than this have nothing to do with each other, ms. */
const GAP = 6000;

/** What was seen. It outlives the page, so that coming back shows it all. */
let last: Look | undefined;
let points: readonly Point[] = [];

/** The points to be drawn, with what a look at the metrics adds. */
export function seen(look: Look): readonly Point[] {
  if (last !== undefined && look.at - last.at < GAP && !isAnew(last, look))
    points = [...points, pointBetween(last, look)].slice(-KEPT);
  last = look;
  return points;
}
