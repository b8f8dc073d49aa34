import type { LeaseJson } from '../api/types.js';

/** A window of a node id that was seen: the times that its holder may put into ids. */
export interface SeenWindow {
  readonly id: number;
  /** Tells one holder from the next. */
  readonly epoch: number;
  readonly label: string;
  /** When it was first seen, Unix ms. */
  readonly from: number;
  /** Whether it began then; otherwise it was there at the first look, and nobody can tell since when. */
  readonly isFromKnown: boolean;
  /** Its fence, Unix ms. */
  readonly until: number;
  readonly isReleased: boolean;
}

/** The windows that were seen, by node id and epoch. */
export type History = ReadonlyMap<string, SeenWindow>;

/** How long windows are remembered after their end, ms. */
const MEMORY = 300_000;

/**
 * The history with what another look has shown. The store keeps the last window of each node id only.
 *
 * @param history nothing at the first look
 */
export function withWindows(
  history: History | undefined,
  records: readonly LeaseJson[],
  now: number,
): History {
  const isFirstLook = history === undefined;
  const next = new Map([...(history ?? [])].filter(([, { until }]) => until > now - MEMORY));
  for (const { id, epoch, label, fence, owner } of records) {
    const key = `${id} ${epoch}`;
    const known = next.get(key);
    const isReleased = owner === null;
    // What had ended before it could be seen says nothing about when it began.
    if (id < 0 || (known === undefined && fence <= now)) continue;
    next.set(key, {
      ...(known ?? { id, epoch, from: now, isFromKnown: !isFirstLook }),
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

/** Windows that are in `[from, to]`, by node id. */
export function rowsBetween(history: History, from: number, to: number): TimelineRow[] {
  const rows = new Map<number, SeenWindow[]>();
  for (const window of history.values())
    if (window.until > from && window.from < to)
      rows.set(window.id, [...(rows.get(window.id) ?? []), window]);
  return [...rows]
    .map(([id, windows]) => ({ id, windows: windows.sort((a, b) => a.epoch - b.epoch) }))
    .sort((a, b) => a.id - b.id);
}
