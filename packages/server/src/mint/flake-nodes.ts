import type { FlakeGenerator, Layout } from 'idsmith';
import type { Log } from '../ops/log.js';
import type { LeasedGenerator } from './leased-generator.js';

/** The most node ids of one server. */
const MAX_NODES = 4;

/** The number of full ticks in a second from which on the server takes another node id. */
const MANY_FULL_TICKS = 50;

/** The time without use after which a further node id is released, and the pause after an attempt to get one failed, ms. */
const IDLE = 60_000;

/** One node id. */
interface Node {
  readonly leased: LeasedGenerator<FlakeGenerator>;
  /** 1 for the node id that every server has. */
  readonly number: number;
  /** The newest tick in which ids were minted, and their number. */
  tick: number;
  used: number;
  isUsed: boolean;
}

/**
 * The generators of flakes. A node id has room for a limited number of ids in each tick: 8,192 a millisecond in the layout jflake.
 * A server that is asked for more takes further node ids, each with a lease of its own, and releases them when they are idle.
 */
export class FlakeNodes {
  readonly #first: Node;
  readonly #more: Node[] = [];
  readonly #make: (number: number) => LeasedGenerator<FlakeGenerator>;
  readonly #layout: Layout;
  readonly #log: Log;
  readonly #perTick: number;
  #second = 0;
  #fullTicks = 0;
  #triedAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  /** @param make makes the generator of the first node id, the second and so on */
  constructor(layout: Layout, make: (number: number) => LeasedGenerator<FlakeGenerator>, log: Log) {
    this.#layout = layout;
    this.#make = make;
    this.#log = log;
    this.#perTick = layout.max('sequence') + 1;
    this.#first = newNode(make(1), 1);
  }

  /** The generator of the first node id, which every server has. */
  get first(): LeasedGenerator<FlakeGenerator> {
    return this.#first.leased;
  }

  get all(): LeasedGenerator<FlakeGenerator>[] {
    return [this.#first, ...this.#more].map(({ leased }) => leased);
  }

  /** Mints `count` ids of one node id that has room for them. Throws as the first generator does. */
  use<Result>(count: number, mint: (generator: FlakeGenerator) => Result): Result {
    const node = count === 1 ? this.#first : this.#nodeFor(count, Date.now());
    if (node === this.#first) return this.first.use(mint);
    try {
      return node.leased.use(mint);
    } catch {
      // The first node id may still be usable.
      return this.first.use(mint);
    }
  }

  #nodeFor(count: number, now: number): Node {
    const tick = Math.floor(now / this.#layout.tick);
    if (this.#take(this.#first, tick, count)) return this.#first;
    for (const node of this.#more) if (this.#take(node, tick, count)) return node;
    this.#countFullTick(now);
    return this.#first;
  }

  /** Counts ids of a tick, if the node id has room for them. */
  #take(node: Node, tick: number, count: number): boolean {
    if (node.tick !== tick) {
      node.tick = tick;
      node.used = 0;
    }
    if (node.used > 0 && node.used + count > this.#perTick) return false;
    node.used += count;
    node.isUsed = true;
    return true;
  }

  #countFullTick(now: number): void {
    const second = Math.floor(now / 1000);
    this.#fullTicks = second === this.#second ? this.#fullTicks + 1 : 1;
    this.#second = second;
    if (this.#fullTicks < MANY_FULL_TICKS || this.#more.length >= MAX_NODES - 1) return;
    this.#fullTicks = 0;
    if (performance.now() - this.#triedAt >= IDLE) void this.#add();
  }

  async #add(): Promise<void> {
    this.#triedAt = performance.now();
    const number = this.#unusedNumber();
    const leased = this.#make(number);
    try {
      await leased.startOnce();
      if (this.#isClosed) return await leased.release();
    } catch (error) {
      // All node ids may be held. The first one serves on, at its own pace.
      this.#log.error('no further node id', { error });
      return;
    }
    this.#triedAt = Number.NEGATIVE_INFINITY;
    this.#more.push(newNode(leased, number));
    this.#timer ??= setInterval(() => this.#releaseIdle(), IDLE).unref();
  }

  /** The lowest number from 2 on that no node id has. */
  #unusedNumber(): number {
    const numbers = this.#more.map(({ number }) => number);
    return Array.from({ length: MAX_NODES }, (_, i) => i + 2).find(
      (each) => !numbers.includes(each),
    ) as number;
  }

  #releaseIdle(): void {
    for (const node of [...this.#more]) {
      if (!node.isUsed) {
        this.#more.splice(this.#more.indexOf(node), 1);
        node.leased.release().catch((error: unknown) => this.#log.error('lease not released', { error }));
      }
      node.isUsed = false;
    }
    if (this.#more.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Takes no further node ids. Those that are held are not released. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }
}

function newNode(leased: LeasedGenerator<FlakeGenerator>, number: number): Node {
  return { leased, number, tick: -1, used: 0, isUsed: true };
}
