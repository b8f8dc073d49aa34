import type { LeasesJson } from '../../api/types.js';
import { type History, withWindows } from '../../lib/lease-windows.js';

/** The history of each namespace. It outlives the page, so that a user who comes back sees all of it. */
const histories = new Map<string, History>();

/** Adds the windows of a response to the history of its namespace, and returns the history. */
export function recordWindows({ namespace, leases, now }: LeasesJson): History {
  const history = withWindows(histories.get(namespace), leases, now);
  histories.set(namespace, history);
  return history;
}
