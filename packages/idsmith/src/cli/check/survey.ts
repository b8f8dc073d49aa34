import type { Layout } from '../../flake/layout.js';
import { type IdFile, type IdLine, isCut } from './id-file.js';
import { isBefore, LayoutGuess, type LayoutName, type Origin, originOf } from './origin.js';
import { TimeGaps } from './time-gaps.js';

/** The number of ids from which the layout is guessed. */
const SAMPLE = 10_000;

/** The most nodes that are told apart. */
const MOST_NODES = 100_000;

/** The most lines that are told as unreadable. */
const MOST_UNREADABLE = 10;

/** What one node has made. */
export interface NodeSurvey {
  readonly node: string;
  ids: number;
  first: number;
  last: number;
}

/** The presets that fit the numbers of the file, the best first. */
export async function guessLayouts(file: IdFile): Promise<LayoutName[]> {
  const guess = new LayoutGuess();
  let count = 0;
  for await (const lines of file.read()) {
    for (const { text } of lines) guess.add(text);
    count += lines.length;
    if (count >= SAMPLE) break;
  }
  return guess.names;
}

/** What one pass over the ids shows: families, order, nodes and times. */
export class Survey {
  readonly #layout: Layout | undefined;
  readonly families = new Map<Origin['family'], number>();
  readonly nodes = new Map<string, NodeSurvey>();
  /** False if there are more nodes than `nodes` has. */
  isEveryNode = true;
  readonly times = new TimeGaps();
  readonly unreadable: IdLine[] = [];
  unreadableCount = 0;
  ids = 0;
  stepsBack = 0;
  /** The first id that is not after the id before it. */
  firstStepBack: { readonly line: IdLine; readonly before: IdLine } | undefined;
  #last: IdLine | undefined;

  constructor(layout: Layout | undefined) {
    this.#layout = layout;
  }

  async read(file: IdFile): Promise<void> {
    for await (const lines of file.read()) for (const line of lines) this.#add(line);
  }

  #add(line: IdLine): void {
    const origin = isCut(line) ? undefined : originOf(line.text, this.#layout);
    if (origin === undefined) {
      this.unreadableCount++;
      if (this.unreadable.length < MOST_UNREADABLE) this.unreadable.push(line);
      return;
    }
    this.ids++;
    this.families.set(origin.family, (this.families.get(origin.family) ?? 0) + 1);
    if (this.#last !== undefined && !isBefore(this.#last.text, line.text)) {
      this.stepsBack++;
      this.firstStepBack ??= { line, before: this.#last };
    }
    this.#last = line;
    if (origin.timestamp === undefined) return;
    this.times.add(origin.timestamp);
    if (origin.node !== undefined) this.#addToNode(origin.node, origin.timestamp);
  }

  #addToNode(name: string, timestamp: number): void {
    const node = this.nodes.get(name);
    if (node !== undefined) {
      node.ids++;
      if (timestamp < node.first) node.first = timestamp;
      if (timestamp > node.last) node.last = timestamp;
    } else if (this.nodes.size < MOST_NODES)
      this.nodes.set(name, { node: name, ids: 1, first: timestamp, last: timestamp });
    else this.isEveryNode = false;
  }
}
