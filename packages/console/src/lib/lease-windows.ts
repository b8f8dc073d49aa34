import type { LeaseJson } from '../api/types.js';
import { oddityOf } from './lease-state.js';

/** A window of a node id: the times that its holder may use in ids. */
export interface SeenWindow {
  readonly id: number;
  /** The term of the lease: another number for each holder. */
  readonly epoch: number;
  readonly label: string;
  /** The time when this page first saw the window, Unix ms. */
  readonly from: number;
  /** True if the window opened at `from`; false if it was already open when the page was loaded. */
  readonly isFromKnown: boolean;
  /** The fence, Unix ms. */
  readonly until: number;
  readonly isReleased: boolean;
}

/** The windows that this page has seen, by node id and term. */
export type History = ReadonlyMap<string, SeenWindow>;

/** The time for which a window stays in the history after its end, ms. */
const MEMORY = 300_000;

/**
 * Adds the windows of a response to the history. The store itself keeps only the last window of each node id.
 *
 * @param history `undefined` for the first response
 */
export function withWindows(
  history: History | undefined,
  records: readonly LeaseJson[],
  now: number,
): History {
  const isFirst = history === undefined;
  const next = new Map([...(history ?? [])].filter(([, { until }]) => until > now - MEMORY));
  for (const record of records) {
    const { id, epoch, label, fence, owner } = record;
    const key = `${id} ${epoch}`;
    const known = next.get(key);
    const isReleased = owner === null;
    // A window that ended before this page saw it has no known start.
    if (id < 0 || oddityOf(record) !== undefined || (known === undefined && fence <= now)) continue;
    next.set(key, {
      ...(known ?? { id, epoch, from: now, isFromKnown: !isFirst }),
      label: label || known?.label || '',
      until: fence,
      isReleased,
    });
  }
  return next;
}

/** A row of the timeline: a node id and its windows, oldest first. */
export interface TimelineRow {
  readonly id: number;
  readonly windows: readonly SeenWindow[];
}

/** The windows in `[from, to]`, by node id. */
export function rowsBetween(history: History, from: number, to: number): TimelineRow[] {
  const rows = new Map<number, SeenWindow[]>();
  for (const window of history.values())
    if (window.until > from && window.from < to)
      rows.set(window.id, [...(rows.get(window.id) ?? []), window]);
  return [...rows]
    .map(([id, windows]) => ({ id, windows: windows.sort((a, b) => a.epoch - b.epoch) }))
    .sort((a, b) => a.id - b.id);
}
