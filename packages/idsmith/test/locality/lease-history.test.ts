import fc from 'fast-check';
import { LeaseFencedError, LocalityGenerator, type LocalityOptions, LocalityUuid } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { atDepth } from '../../../../test/depth.ts';
import type { LeaseWindow } from '../../src/lease/window.ts';
import { handLease } from '../support/hand-lease.ts';
import { repeated } from '../support/unique.ts';

/** Ten minutes, after which a sequential counter may take a new seed. */
const TURN = 600_000;
const START = Date.UTC(2026, 0, 1);
const fenced = expect.objectContaining({ code: 'LEASE_FENCED' });
const closed = expect.objectContaining({ code: 'CLOSED' });
const timeOf = (id: string) => Number(LocalityUuid.parse(id).timestamp);

function setUp(options: LocalityOptions = {}, window = { node: 0, from: START, until: START + 1000 }) {
  const clock = new FakeClock(START);
  const lease = handLease(window.node, window.from, window.until);
  const generator = new LocalityGenerator({ mode: 'sequential', ...options, node: lease, clock });
  return { clock, lease, generator };
}

describe('a locality generator whose lease was replaced', () => {
  it('stamps nothing below the new window, though it has stamped far ahead in the old one', () => {
    const { clock, lease, generator } = setUp();
    clock.time = START + 900;
    generator.next();
    clock.time = START + 100;
    generator.next();
    lease.move({ node: 1, from: START + 500, until: START + 2000 });
    expect(timeOf(generator.next())).toBe(START + 500);
    clock.time = START + 501;
    expect(timeOf(generator.next())).toBe(START + 501);
  });

  it('stamps nothing below the new window, though the clock had jumped past the old one', () => {
    const { clock, lease, generator } = setUp();
    clock.time = START + 5000;
    expect(() => generator.next()).toThrow(fenced);
    clock.time = START + 400;
    lease.move({ node: 1, from: START + 3000, until: START + 4000 });
    expect(timeOf(generator.next())).toBe(START + 3000);
  });

  it('begins anew where the new window begins, however far ahead it was with the old node id', () => {
    const { clock, lease, generator } = setUp();
    clock.time = START + 900;
    generator.next();
    clock.time = START + 20;
    lease.move({ node: 1, from: START + 10, until: START + 1010 });
    expect(timeOf(generator.next())).toBe(START + 20);
  });

  it('stays above what it has stamped itself if the same node id comes again', () => {
    const { lease, generator } = setUp();
    const ids = generator.batch(3);
    lease.move({ node: 0, from: START - 10, until: START + 1000 });
    generator.useVariableIds();
    generator.useSequentialIds();
    expect(repeated([...ids, ...generator.batch(3)])).toEqual([]);
  });
});

describe('a reading that led to no id', () => {
  it.each(['toggle', 'reseed'])('leaves no trace: one glitch past the window, then a %s', (what) => {
    const { clock, generator } = setUp({ reseed: true }, { node: 0, from: START, until: START + 2 * TURN });
    const before = generator.next();
    clock.time = START + 50 * TURN;
    expect(() => generator.next()).toThrow(fenced);
    expect(() => generator.batch(3)).toThrow(fenced);
    expect(() => generator.fill(new Uint8Array(16))).toThrow(fenced);
    if (what === 'toggle') {
      clock.time = START + 1;
      generator.useVariableIds();
      expect(timeOf(generator.next())).toBe(START + 1);
      return;
    }
    clock.time = START;
    const count = (id: string) => Number.parseInt(id.slice(0, 8), 16);
    const after = generator.next();
    expect([timeOf(after), count(after)]).toEqual([START, count(before) + 1]);
    clock.time = START + TURN;
    const fresh = new LocalityGenerator({ mode: 'sequential', clock });
    expect(generator.next().slice(0, 8)).toBe(fresh.next().slice(0, 8));
  });

  it('is not the last timestamp that a release tells', () => {
    const { clock, lease, generator } = setUp();
    clock.time = START + 5000;
    expect(() => generator.next()).toThrow(fenced);
    expect(lease.release()).toBe(-1);
  });
});

describe('a release', () => {
  it('tells the last timestamp of the present window only', () => {
    const { clock, lease, generator } = setUp();
    clock.time = START + 700;
    generator.next();
    clock.time = START + 600;
    generator.next();
    lease.move({ node: 0, from: START, until: START + 2000 });
    lease.move({ node: 3, from: START + 100, until: START + 2000 });
    expect(lease.release()).toBe(-1);
  });

  it('is final, whatever the lease says afterwards', () => {
    const { lease, generator } = setUp();
    generator.next();
    expect(lease.release()).toBe(START);
    lease.move({ node: 0, from: START, until: START + 9000 });
    expect(() => generator.next()).toThrow(closed);
    expect(() => generator.batch(1)).toThrow(closed);
    expect(() => generator.share()).toThrow(closed);
  });
});

describe('no number that a clock can give', () => {
  const odd = [-1, -0, 0, 0.5, 1.5, Number.NaN, 1 / 0, -1 / 0, 2 ** 48, 2 ** 53, START - 0.5, START + 1e9];
  it.each(odd)('is taken for the reading before: %d', (reading) => {
    const { clock, lease, generator } = setUp();
    const calls = [
      () => generator.next(),
      () => generator.batch(2)[0] as string,
      () => String(generator.nextUuid()),
    ];
    for (const call of calls) {
      generator.next();
      clock.time = reading;
      try {
        expect(timeOf(call())).toBe(START);
      } catch (error) {
        expect(['CLOCK', 'TIME_EXHAUSTED', 'LEASE_FENCED']).toContain((error as { code?: string }).code);
      }
      clock.time = START;
    }
    generator.next();
    lease.release();
    clock.time = reading;
    for (const call of calls) expect(call).toThrow(expect.objectContaining({ code: expect.any(String) }));
    expect(() => generator.fill(new Uint8Array(16))).toThrow();
  });
});

/** Two generators that rent node ids from one landlord, who keeps to the protocol: a window begins at the fence or later. */
class Landlord {
  readonly ids: string[] = [];
  readonly clock = new FakeClock(START);
  readonly #fences = [START, START, START];
  readonly #tenants: { lease: ReturnType<typeof handLease>; generator: LocalityGenerator; highest: number }[];

  constructor(options: LocalityOptions) {
    const { clock } = this;
    this.#tenants = [0, 1].map((node) => {
      const { from, until } = this.#grant(node, 0, 5);
      const lease = handLease(node, from, until);
      return { lease, generator: new LocalityGenerator({ ...options, node: lease, clock }), highest: -1 };
    });
  }

  #grant(node: number, gap: number, length: number): LeaseWindow {
    const from = (this.#fences[node] as number) + gap;
    this.#fences[node] = from + length;
    return { node, from, until: from + length };
  }

  renew(who: number, length: number): void {
    const { lease } = this.#tenants[who]!;
    const until = lease.window.until + length;
    this.#fences[lease.window.node] = until;
    lease.move({ ...lease.window, until });
  }

  /** Gives a node id that the other does not hold, perhaps the same or a former one. */
  replace(who: number, node: number, gap: number, length: number): void {
    const tenant = this.#tenants[who]!;
    if (this.#tenants[1 - who]!.lease.window.node === node) return;
    tenant.lease.move(this.#grant(node, gap, length));
    tenant.highest = -1;
  }

  toggle(who: number, sequential: boolean): void {
    const { generator } = this.#tenants[who]!;
    if (sequential) generator.useSequentialIds();
    else generator.useVariableIds();
  }

  mint(who: number, how: 'next' | 'batch' | 'fill', count: number): void {
    const tenant = this.#tenants[who]!;
    const { node, from, until } = tenant.lease.window;
    const reading = this.clock.time;
    const mustWork = reading >= from && reading < until && tenant.highest < reading;
    try {
      for (const id of minted(tenant.generator, how, count)) {
        const processId = Number.parseInt(id.slice(9, 13), 16);
        const ms = Number.parseInt(id.slice(24), 16);
        if (processId !== node || ms < from || ms >= until)
          expect.fail(`${id} of node ${processId} at ${ms}, in the window ${from} to ${until} of ${node}`);
        tenant.highest = Math.max(tenant.highest, ms);
        this.ids.push(id);
      }
    } catch (error) {
      // A reading within the window, above all that was stamped, is good whatever happened before.
      if (!(error instanceof LeaseFencedError) || mustWork) throw error;
    }
  }
}

function* minted(generator: LocalityGenerator, how: 'next' | 'batch' | 'fill', count: number) {
  if (how === 'next') for (let i = 0; i < count; i++) yield generator.next();
  else if (how === 'batch') yield* generator.batch(count);
  else {
    const bytes = new Uint8Array(16 * count);
    generator.fill(bytes);
    for (let at = 0; at < bytes.length; at += 16) yield `${LocalityUuid.fromBytes(bytes.slice(at, at + 16))}`;
  }
}

type Act = (landlord: Landlord) => void;
const who = fc.nat(1);
const few = fc.integer({ min: 1, max: 6 });
const acts: { weight: number; arbitrary: fc.Arbitrary<Act> }[] = [
  {
    weight: 8,
    arbitrary: fc
      .tuple(who, fc.constantFrom('next' as const, 'batch' as const, 'fill' as const), few)
      .map((args) => (landlord: Landlord) => landlord.mint(...args)),
  },
  {
    weight: 4,
    arbitrary: fc
      .integer({ min: -4, max: 6 })
      .map((ms) => (landlord: Landlord) => landlord.clock.advance(ms)),
  },
  {
    // A glitch, or another window of the seed.
    weight: 1,
    arbitrary: fc
      .constantFrom(-TURN, TURN, 9 * TURN, -9 * TURN)
      .map((ms) => (landlord: Landlord) => landlord.clock.advance(ms)),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(who, fc.boolean()).map((args) => (landlord: Landlord) => landlord.toggle(...args)),
  },
  { weight: 2, arbitrary: fc.tuple(who, few).map((args) => (landlord: Landlord) => landlord.renew(...args)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(who, fc.nat(2), fc.nat(4), few)
      .map((args) => (landlord: Landlord) => landlord.replace(...args)),
  },
];

describe('generators with leases, through any history of windows, clocks, toggles and calls', () => {
  it('never repeat an id, keep to their windows, and mint whenever the clock lets them', () => {
    const history = fc.array(fc.oneof(...acts), { minLength: 5, maxLength: 80 });
    const options = fc.record({
      mode: fc.constantFrom('variable' as const, 'sequential' as const),
      reversal: fc.constantFrom('full' as const, 'java' as const),
      reseed: fc.boolean(),
    });
    fc.assert(
      fc.property(history, options, (history, options) => {
        const landlord = new Landlord(options);
        for (const act of history) act(landlord);
        expect(repeated(landlord.ids)).toEqual([]);
      }),
      { numRuns: atDepth(2000) },
    );
  });
});
