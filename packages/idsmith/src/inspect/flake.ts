import type { Layout } from '../flake/layout.js';
import { layouts } from '../flake/layouts.js';
import type { Reading } from './reading.js';
import { timeFields } from './time.js';

/** Reads an id as a flake: one reading for each preset that gives a plausible time, the most recent first. */
export function readFlake(text: string, now: number): Reading[] {
  const trimmed = text.trim();
  if (!/^-?\d{1,20}$/.test(trimmed)) return [];
  return Object.entries(layouts)
    .flatMap(([name, layout]) => readAs(name, layout, trimmed, now))
    .sort((a, b) => timestampOf(b) - timestampOf(a));
}

function timestampOf({ fields: { timestamp } }: Reading): number {
  return Number(timestamp);
}

function readAs(name: string, layout: Layout, text: string, now: number): Reading[] {
  try {
    const { timestamp, node, sequence } = layout.decode(text);
    // Plausible times begin a month after the epoch and end a day from now.
    const plausible = timestamp > layout.epoch + 30 * 86_400_000 && timestamp < now + 86_400_000;
    return plausible
      ? [{ family: 'flake', fields: { layout: name, node, sequence, ...timeFields(timestamp) } }]
      : [];
  } catch {
    return [];
  }
}
