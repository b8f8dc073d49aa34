import type { LeasesJson } from '../../api/types.js';
import { type History, withWindows } from '../../lib/lease-windows.js';

/** What was recordWindows of each namespace. It outlives the page, so that coming back shows it all. */
const histories = new Map<string, History>();

/** The windows of a namespace, with what an answer shows of it. */
export function recordWindows({ namespace, leases, now }: LeasesJson): History {
  const history = withWindows(histories.get(namespace), leases, now);
  histories.set(namespace, history);
  return history;
}
