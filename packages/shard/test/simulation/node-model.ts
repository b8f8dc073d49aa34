import { VARIANTS } from '../../src/keys/codec.ts';
import {
  FRESH_UNSURE_VARIANTS,
  FRESH_VARIANTS,
  HANDOVER_UNSURE_VARIANTS,
  HANDOVER_VARIANTS,
  type VariantSpan,
  widthOf,
} from '../../src/keys/variants.ts';
import {
  ADOPT_NODE_SEQUENCE,
  CLOSE_NODE_SEQUENCE,
  MINT_KEYS,
  OPEN_NODE_SEQUENCE,
  PREPARE_NODE_SEQUENCE,
  READ_NODE_SEQUENCE,
  RESERVE_NODE_SEQUENCE,
  WITHDRAW_NODE_SEQUENCE,
} from '../../src/redis/scripts.ts';

/** The hash of a sequence, as the scripts of mint/*.lua write it. */
export interface SequenceHash {
  readonly ring: string;
  readonly nodes: string;
  readonly state: 'pending' | 'reserved' | 'open' | 'closed';
  readonly next: string;
  readonly generation: number;
  readonly server: string;
  readonly from: number;
  readonly ms: number;
  readonly variant: number;
  readonly index: string;
}

/** The shares of the variants of a millisecond: of nodes with proofs of the others, and of nodes without. */
export interface Spans {
  readonly fresh: VariantSpan;
  readonly handOver: VariantSpan;
  readonly freshUnsure: VariantSpan;
  readonly handOverUnsure: VariantSpan;
}

/** What the scripts know before they decide: see mint/include/node-sequence.lua. */
interface View {
  readonly ring: string;
  readonly nodes: string;
  readonly lead: number;
  readonly index: string;
  readonly now: number;
  readonly rest: readonly (string | number)[];
  sequence: SequenceHash | undefined;
  isLost: boolean;
  isMisplaced: boolean;
  high: number;
}

type Script = (node: NodeModel, view: View) => unknown[];

/** A Redis node with its sequence: what the scripts do there, without Redis. A test compares it with a real Redis. */
export class NodeModel {
  hash: SequenceHash | undefined;
  /** The variants of each share. */
  spans: Spans = {
    fresh: FRESH_VARIANTS,
    handOver: HANDOVER_VARIANTS,
    freshUnsure: FRESH_UNSURE_VARIANTS,
    handOverUnsure: HANDOVER_UNSURE_VARIANTS,
  };
  /** The replication id, which a restart changes. */
  server: string;
  readonly #clock: () => number;

  /** @param clock the clock of the node, ms since 1970 */
  constructor(server: string, clock: () => number) {
    this.server = server;
    this.#clock = clock;
  }

  /** Runs a script, all at once. */
  execute(script: string, args: readonly (string | number)[]): unknown[] {
    const run = SCRIPTS.get(script);
    if (run === undefined) throw new Error('the model does not know this script');
    return run(this, this.view(args));
  }

  protected view(args: readonly (string | number)[]): View {
    const [ring, nodes, epoch, lead, skew, seen, place, ...rest] = args;
    const [, index, check] = /^(\d+) ?([a-z]*)$/.exec(String(place)) as unknown as [string, string, string];
    const now = this.#clock() - Number(epoch);
    if (now < 0) throw new Error('ERR the clock of this server is before the epoch of the map');
    const sequence = this.hash;
    const isLost = this.isLost(sequence, Number(seen));
    const high = sequence?.ms ?? 0;
    return {
      ring: String(ring),
      nodes: String(nodes),
      lead: Number(lead),
      index,
      now,
      rest,
      sequence,
      isLost,
      isMisplaced:
        sequence !== undefined && sequence.ring === ring && check === 'check' && sequence.index !== index,
      high: isLost ? Math.max(high, Number(seen), this.reach(now, Number(lead), Number(skew))) : high,
    };
  }

  /** Tells whether the hash may be out of date. */
  protected isLost(sequence: SequenceHash | undefined, seen: number): boolean {
    return sequence === undefined || sequence.server !== this.server || sequence.ms < seen;
  }

  /** The last millisecond that anybody may have minted, if the hash is lost. */
  protected reach(now: number, lead: number, skew: number): number {
    return now + lead + skew;
  }

  /** @param isSure true for keys that are minted with proofs of all nodes */
  spanOf({ generation }: SequenceHash, isSure: boolean): VariantSpan {
    const { fresh, handOver, freshUnsure, handOverUnsure } = this.spans;
    if (generation === 1) return isSure ? fresh : freshUnsure;
    return isSure ? handOver : handOverUnsure;
  }

  write(view: View, state: SequenceHash['state'], next: string, generation: number, ms: number): void {
    const { ring, nodes, index } = view;
    const { server } = this;
    this.hash = { ring, nodes, state, next, generation, server, from: ms, ms, variant: VARIANTS - 1, index };
    // The script does not read the names of the nodes again.
    Object.assign(view, {
      sequence: { ...this.hash, nodes: '' },
      high: ms,
      isMisplaced: false,
      isLost: false,
    });
  }
}

function statusOf({ ring, sequence, isMisplaced, isLost, high, now }: View): unknown[] {
  const whose =
    sequence === undefined
      ? 'missing'
      : sequence.ring !== ring
        ? 'foreign'
        : isMisplaced
          ? 'misplaced'
          : 'own';
  const { state = '', next = '', nodes = '', generation = 0, from = 0 } = sequence ?? {};
  return [whose, state, next, nodes, generation, high, isLost ? 1 : 0, sequence?.ring ?? '', now, from];
}

const isOwn = ({ sequence, ring, isMisplaced }: View) => sequence?.ring === ring && !isMisplaced;

function mintKeys(node: NodeModel, view: View): unknown[] {
  const { sequence, now, lead, isLost } = view;
  if (!isOwn(view) || sequence?.state !== 'open' || isLost) return statusOf(view);
  const [size, count, above] = view.rest.map(Number) as [number, number, number];
  const until = Number(view.rest[4]);
  const isSure = view.rest[3] === 'sure' && until >= now;
  const { first, last: final } = node.spanOf(sequence, isSure);
  const limit = isSure ? Math.min(now + lead, until) : now + lead;
  const ownFrom = (ms: number) => ms + ((((Number(view.index) - ms) % size) + size) % size);

  let [ms, variant] = [ownFrom(Math.max(now, above)), first];
  if (ms <= sequence.ms) {
    if (sequence.variant < final) [ms, variant] = [sequence.ms, Math.max(sequence.variant + 1, first)];
    else ms = ownFrom(sequence.ms + 1);
  }
  if (ms > limit) return ['wait', sequence.from, now, ms - limit];

  const width = widthOf({ first, last: final });
  const granted = Math.min(count, final + 1 - variant + Math.floor((limit - ms) / size) * width);
  const restIn = Math.max(0, ms + Math.floor((variant - first + count - 1) / width) * size - limit);
  const offset = variant - first + granted - 1;
  const last = { ms: ms + Math.floor(offset / width) * size, variant: first + (offset % width) };
  node.hash = { ...sequence, ...last, index: view.index };
  return ['keys', sequence.from, now, ms, variant, granted, restIn, first, final];
}

const SCRIPTS = new Map<string, Script>([
  [READ_NODE_SEQUENCE, (_, view) => statusOf(view)],
  [
    PREPARE_NODE_SEQUENCE,
    (node, view) => {
      if (!view.sequence) node.write(view, 'pending', '', Number(view.rest[0]), view.high);
      return statusOf(view);
    },
  ],
  [
    WITHDRAW_NODE_SEQUENCE,
    (node, view) => {
      if (isOwn(view) && view.sequence?.state === view.rest[0]) node.hash = view.sequence = undefined;
      return statusOf(view);
    },
  ],
  [
    OPEN_NODE_SEQUENCE,
    (node, view) => {
      const { sequence, isLost } = view;
      const [base, known] = view.rest.map(Number) as [number, number];
      const { state = '', generation = 0 } = sequence ?? {};
      const isUnused =
        state === 'pending' || (state === 'reserved' && generation <= known) || (state === 'open' && isLost);
      if (isOwn(view) && isUnused)
        node.write(view, 'open', '', Math.max(generation, known), Math.max(view.high, base));
      return statusOf(view);
    },
  ],
  [
    RESERVE_NODE_SEQUENCE,
    (node, view) => {
      const { sequence } = view;
      const generation = Number(view.rest[0]);
      const isOlder = isOwn(view) && sequence?.state !== 'closed' && sequence!.generation < generation;
      if (!sequence || isOlder) node.write(view, 'reserved', '', generation, view.high);
      return statusOf(view);
    },
  ],
  [
    CLOSE_NODE_SEQUENCE,
    (node, view) => {
      const { sequence, ring } = view;
      const generation = Number(view.rest[1]);
      const isOurs =
        !sequence || (sequence.ring === ring && sequence.state !== 'closed') || sequence.state === 'pending';
      if (isOurs && !view.isMisplaced && (sequence?.generation ?? 0) <= generation)
        node.write(view, 'closed', String(view.rest[0]), generation, view.high);
      return statusOf(view);
    },
  ],
  [
    ADOPT_NODE_SEQUENCE,
    (node, view) => {
      const [base, generation] = view.rest.map(Number) as [number, number];
      const { state = '', generation: known = 0 } = view.sequence ?? {};
      const isFree = isOwn(view) || (state !== 'open' && state !== 'reserved');
      const isInTime = known < generation || (isOwn(view) && state !== 'closed' && known === generation);
      const isDone =
        isOwn(view) && state === 'open' && !view.isLost && known === generation && view.high >= base;
      if (isFree && isInTime && !isDone) node.write(view, 'open', '', generation, Math.max(view.high, base));
      return statusOf(view);
    },
  ],
  [MINT_KEYS, mintKeys],
]);
