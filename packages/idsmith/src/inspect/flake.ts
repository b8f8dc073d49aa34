import type { Layout } from '../flake/layout.js';
import { layouts } from '../flake/layouts.js';
import { type Candidate, candidate } from './reading.js';
import { DAY, timeFields } from './time.js';

/** Reads an id as a flake: one reading for each preset that gives a plausible time, the most recent first. */
export function readFlake(text: string, now: number): Candidate[] {
  if (!/^-?\d{1,20}$/.test(text)) return [];
  return Object.entries(layouts)
    .flatMap(([name, layout]) => readAs(name, layout, text, now))
    .sort((a, b) => timestampOf(b) - timestampOf(a));
}

function timestampOf({ fields: { timestamp } }: Candidate): number {
  return Number(timestamp);
}

function readAs(name: string, layout: Layout, text: string, now: number): Candidate[] {
  try {
    const { timestamp, node, sequence } = layout.decode(text);
    // Plausible times begin a month after the epoch and end a day from now.
    const isPlausible = timestamp > layout.epoch + 30 * DAY && timestamp < now + DAY;
    if (!isPlausible) return [];
    const fields = { layout: name, node, sequence, ...timeFields(timestamp) };
    return [candidate('flake', `a number with a plausible time in the layout ${name}`, fields)];
  } catch {
    return [];
  }
}
