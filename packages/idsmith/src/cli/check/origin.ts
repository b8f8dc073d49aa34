import type { Layout } from '../../flake/layout.js';
import type { layouts } from '../../flake/layouts.js';
import { type InspectedFamily, inspect, type Reading } from '../../inspect/index.js';

/** The name of a preset layout. */
export type LayoutName = keyof typeof layouts;

/** The origin of an id, as far as the id tells it. */
export interface Origin {
  readonly family: InspectedFamily | 'number';
  /** Unix milliseconds. */
  readonly timestamp?: number;
  /** The node that has made the id: a number for flakes, process id and MAC fragment for locality UUIDs. */
  readonly node?: string;
  readonly sequence?: number;
}

const DECIMAL = /^-?\d{1,20}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** True if the text is a whole number of up to 64 bits: a flake or an id of a sequence. */
const isDecimal = (text: string) => DECIMAL.test(text);

/**
 * The origin of an id; `undefined` for text that is not an id.
 *
 * @param layout the layout of numbers; without one they are ids of a sequence
 */
export function originOf(text: string, layout: Layout | undefined): Origin | undefined {
  if (isDecimal(text)) return numberOrigin(text, layout);
  if (UUID.test(text)) {
    const version = text[14]?.toLowerCase();
    if (version === '7') return { family: 'uuid', timestamp: timeOfVersion7(text) };
    if (version === 'b') return localityOrigin(text.toLowerCase());
  }
  try {
    return readingOrigin(inspect(text)[0] as Reading);
  } catch {
    return undefined;
  }
}

function numberOrigin(text: string, layout: Layout | undefined): Origin | undefined {
  try {
    const { timestamp, node, sequence } = layout?.decode(text) ?? {};
    if (timestamp === undefined) return { family: 'number' };
    return { family: 'flake', timestamp, node: String(node), sequence: sequence as number };
  } catch {
    // More bits than the layout has.
    return { family: 'number' };
  }
}

function readingOrigin({ family, fields }: Reading): Origin {
  const { timestamp, processId, macFragment } = fields;
  return {
    family,
    ...(timestamp !== undefined && { timestamp: Number(timestamp) }),
    ...(processId !== undefined && { node: `${processId} ${macFragment}` }),
  };
}

/** The same as by `inspect`, and quicker: files have millions of these. */
function localityOrigin(text: string): Origin {
  const mac = ['__', '__', `_${text[15]}`, text.slice(16, 18), text.slice(19, 21), text.slice(21, 23)].join(
    ':',
  );
  return {
    family: 'locality',
    timestamp: Number.parseInt(text.slice(24), 16),
    node: `${Number.parseInt(text.slice(9, 13), 16)} ${mac}`,
  };
}

/** The first 48 bits of a UUID of version 7 are Unix milliseconds. */
function timeOfVersion7(text: string): number {
  return Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16);
}

/**
 * One text for every way to write the same id: UUIDs in lower case, numbers unsigned and without zeros in front, because a
 * signed column shows the same 64 bits as a negative number.
 */
export function sameText(text: string): string {
  if (/^[1-9]\d{0,18}$/.test(text)) return text;
  if (isDecimal(text)) return String(BigInt.asUintN(64, BigInt(text)));
  return UUID.test(text) ? text.toLowerCase() : text;
}

/** Compares two ids as their columns sort them: numbers by value, other ids as text. */
export function isBefore(a: string, b: string): boolean {
  if (isDecimal(a) && isDecimal(b))
    return a.length === b.length && a[0] !== '-' && b[0] !== '-' ? a < b : BigInt(a) < BigInt(b);
  return a < b;
}

/** The presets that give a plausible time for numbers, with how many numbers each, the best first. */
export class LayoutGuess {
  readonly #counts = new Map<LayoutName, number>();
  #numbers = 0;

  add(text: string): void {
    if (!isDecimal(text)) return;
    this.#numbers++;
    for (const { family, fields } of readingsOf(text)) {
      const { layout } = fields as { layout?: LayoutName };
      if (family === 'flake' && layout !== undefined)
        this.#counts.set(layout, (this.#counts.get(layout) ?? 0) + 1);
    }
  }

  /** The presets that fit most numbers. `inspect` gives the most recent time first, and so does this list where counts are equal. */
  get names(): LayoutName[] {
    return [...this.#counts]
      .filter(([, count]) => count * 2 > this.#numbers)
      .sort(([, a], [, b]) => b - a)
      .map(([name]) => name);
  }
}

function readingsOf(text: string): Reading[] {
  try {
    return inspect(text);
  } catch {
    return [];
  }
}
