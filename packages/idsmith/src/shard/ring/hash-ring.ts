import { md5 } from '../../encoding/md5.js';
import { refuse, requireInteger } from '../../options.js';
import { refuseMore } from '../extra-arguments.js';
import { ringHash } from './key-hash.js';

const encoder = new TextEncoder();

/** The largest weight: more would not be exact in the single precision that upstream reckons in. */
export const MAX_WEIGHT = 2 ** 24;

/** How many points a bucket of the index holds at most on average. */
const POINTS_PER_BUCKET = 1;

/**
 * A consistent-hash ring of weighted nodes, the same as hash_ring 0.2.1 makes of them: a key has the same owner on both.
 *
 * With n nodes of total weight T, a node of weight w has floor(w / T × 40 × n) replicas of four points each. A key
 * belongs to the node of the first point at or after its hash.
 *
 * @example
 * const ring = new HashRing({ '127.0.0.1:8080': 1, '127.0.0.2:8080': 2, '127.0.0.3:8080': 4 });
 * ring.nodeOf('users:102'); // '127.0.0.3:8080'
 */
export class HashRing {
  readonly #names: readonly string[];
  /** The points, ascending, and whose each is: a number in `#names`. The first one comes once more at the end. */
  readonly #points: Float64Array;
  readonly #owners: Uint16Array;
  /** For each value of a hash's upper bits, the first point that is not before all such hashes. */
  readonly #index: Uint32Array;
  readonly #shift: number;

  /**
   * @param nodes each node's weight, a whole number from 1 to 2^24
   * @throws InvalidOptionError when there is no node or a weight is none, naming the node
   */
  constructor(nodes: Readonly<Record<string, number>>, ...more: never[]) {
    refuseMore('new HashRing(nodes)', more, 'the hash is always MD5');
    if (typeof nodes !== 'object' || nodes === null) refuse('nodes', 'an object of names and weights', nodes);
    const entries = Object.entries(nodes);
    if (entries.length === 0) refuse('nodes', 'one node or more', nodes);
    if (entries.length > 65_535) refuse('nodes', 'at most 65535 nodes', entries.length);
    for (const [name, weight] of entries) requireInteger(`the weight of ${name}`, weight, 1, MAX_WEIGHT);
    this.#names = entries.map(([name]) => name);
    const points = pointsOf(entries);
    if (points.length === 0) refuse('nodes', 'weights of which one at least gets a point', 'none');
    this.#points = Float64Array.from([...points.map(([point]) => point), 2 ** 32]);
    this.#owners = Uint16Array.from([...points, points[0] as Point].map(([, owner]) => owner));
    const bits = Math.ceil(Math.log2(points.length / POINTS_PER_BUCKET));
    this.#shift = 32 - bits;
    this.#index = indexOf(this.#points, bits);
  }

  /** The name of the node that owns `key`. */
  nodeOf(key: string): string {
    return this.#names[this.indexOf(key)] as string;
  }

  /**
   * The place of that node in the order they were given in.
   *
   * @internal
   */
  indexOf(key: string): number {
    const hash = ringHash(key);
    // A shift by 32 would be one by 0: a ring of one point has one bucket.
    let at = this.#index[this.#shift === 32 ? 0 : hash >>> this.#shift] as number;
    while ((this.#points[at] as number) < hash) at++;
    return this.#owners[at] as number;
  }

  /** How many points each node has; a node of very little weight may have none. */
  get points(): Record<string, number> {
    const counts = new Array<number>(this.#names.length).fill(0);
    for (const owner of this.#owners.subarray(0, -1)) counts[owner] = (counts[owner] as number) + 1;
    return Object.fromEntries(this.#names.map((name, i) => [name, counts[i] as number]));
  }
}

type Point = readonly [point: number, owner: number];

function pointsOf(entries: readonly [string, number][]): Point[] {
  const f32 = Math.fround;
  const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
  const points = entries.flatMap(([name, weight], owner) => {
    // Upstream reckons in single precision, so that equal weights give 39 replicas for some numbers of nodes.
    const replicas = Math.floor(f32(f32(f32(weight) / f32(total)) * 40 * entries.length));
    return Array.from({ length: replicas }, (_, replica) => {
      const digest = new DataView(md5(encoder.encode(`${name}-${replica}`)).buffer);
      return [0, 4, 8, 12].map((at): Point => [digest.getUint32(at, true), owner]);
    }).flat();
  });
  return points.sort(([a], [b]) => a - b);
}

function indexOf(points: Float64Array, bits: number): Uint32Array {
  const index = new Uint32Array(2 ** bits);
  let at = 0;
  for (let bucket = 0; bucket < index.length; bucket++) {
    while ((points[at] as number) < bucket * 2 ** (32 - bits)) at++;
    index[bucket] = at;
  }
  return index;
}
