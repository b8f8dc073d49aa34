import { md5, refuse, requireInteger } from 'idsmith/internal';
import { keyHash } from './key-hash.js';

const encoder = new TextEncoder();

/** The largest weight. hash_ring calculates in single precision, which is not exact above 2^24. */
export const MAX_WEIGHT = 2 ** 24;

/** The number of nodes has 16 bits. */
const MAX_NODES = 65_536;

/** The average number of points in a bucket of the index, at most. */
const POINTS_PER_BUCKET = 1;

/**
 * A consistent-hash ring of weighted nodes. Every key has the same owner as on a ring of hash_ring 0.2.1.
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
  /** The points in ascending order. A last point of 2^32 stands for the first one, so that the ring closes. */
  readonly #points: Float64Array;
  /** The owner of each point, as an index into `#names`. */
  readonly #owners: Uint16Array;
  /** For each value of a hash's upper bits: the first point at or after the lowest hash with these bits. */
  readonly #index: Uint32Array;
  readonly #shift: number;

  /**
   * @param nodes the weight of each node by name: a whole number from 1 to 2^24
   * @throws InvalidOptionError when there is no node, or naming the node whose weight is out of range
   */
  constructor(nodes: Readonly<Record<string, number>>) {
    if (typeof nodes !== 'object' || nodes === null) refuse('nodes', 'an object of names and weights', nodes);
    const entries = Object.entries(nodes);
    if (entries.length === 0) refuse('nodes', 'one node or more', nodes);
    if (entries.length >= MAX_NODES) refuse('nodes', `at most ${MAX_NODES - 1} nodes`, entries.length);
    for (const [name, weight] of entries) requireInteger(`the weight of ${name}`, weight, 1, MAX_WEIGHT);
    this.#names = entries.map(([name]) => name);
    const points = pointsOf(entries);
    if (points.length === 0) refuse('nodes', 'weights that give at least one node a point', nodes);
    this.#points = new Float64Array(points.length + 1);
    this.#owners = new Uint16Array(points.length + 1);
    for (const [i, point] of points.entries()) {
      this.#points[i] = Math.floor(point / MAX_NODES);
      this.#owners[i] = point % MAX_NODES;
    }
    this.#points[points.length] = 2 ** 32;
    this.#owners[points.length] = this.#owners[0] as number;
    const bits = Math.ceil(Math.log2(points.length / POINTS_PER_BUCKET));
    this.#shift = 32 - bits;
    this.#index = indexOf(this.#points, bits);
  }

  /** The name of the node that owns `key`. */
  nodeOf(key: string): string {
    return this.#names[this.indexOf(key)] as string;
  }

  /**
   * The index of the node that owns `key`, in the order of the constructor's argument.
   *
   * @internal
   */
  indexOf(key: string): number {
    const hash = keyHash(key);
    // JavaScript takes a shift by 32 for a shift by 0. A ring of one point has one bucket.
    let at = this.#index[this.#shift === 32 ? 0 : hash >>> this.#shift] as number;
    while ((this.#points[at] as number) < hash) at++;
    return this.#owners[at] as number;
  }

  /** The number of points of each node. A node of very little weight may have none. */
  get points(): Record<string, number> {
    const counts = new Array<number>(this.#names.length).fill(0);
    for (const owner of this.#owners.subarray(0, -1)) counts[owner] = (counts[owner] as number) + 1;
    return Object.fromEntries(this.#names.map((name, i) => [name, counts[i] as number]));
  }
}

/** The points in ascending order, each as point × 65536 + owner. Points of the same value keep the order of their owners. */
function pointsOf(entries: readonly [string, number][]): Float64Array {
  const f32 = Math.fround;
  const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
  // hash_ring calculates in single precision: for some numbers of nodes, equal weights give 39 replicas.
  const replicas = entries.map(([, weight]) =>
    Math.floor(f32(f32(f32(weight) / f32(total)) * 40 * entries.length)),
  );
  const points = new Float64Array(4 * replicas.reduce((sum, count) => sum + count, 0));
  let next = 0;
  for (const [owner, [name]] of entries.entries())
    for (let replica = 0; replica < (replicas[owner] as number); replica++) {
      const digest = new DataView(md5(encoder.encode(`${name}-${replica}`)).buffer);
      for (let at = 0; at < 16; at += 4) points[next++] = digest.getUint32(at, true) * MAX_NODES + owner;
    }
  return points.sort();
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
