import fc from 'fast-check';
import { LocalityGenerator, LocalityUuid } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { bindLease, type LeaseUser } from '../../src/lease/window.ts';
import { asLease } from '../support/hand-lease.ts';
import { repeated } from '../support/unique.ts';

const START = Date.UTC(2026, 0, 1);
const node = { processId: 7, mac: Uint8Array.of(0, 1, 2, 3, 4, 5) };

type What = 'next' | 'uuid' | 'batch' | 'fill' | 'sequential' | 'variable' | 'share' | 'attached' | 'move';
interface Call {
  readonly what: What;
  readonly count: number;
  /** What the clock calls when this call reads it, and then by how much it goes on. */
  readonly inner: readonly Call[];
  readonly ms: number;
}

const callWith = (inner: fc.Arbitrary<Call[]>): fc.Arbitrary<Call> =>
  fc.record({
    what: fc.constantFrom<What>(
      'next',
      'next',
      'uuid',
      'batch',
      'fill',
      'sequential',
      'variable',
      'share',
      'attached',
      'move',
    ),
    count: fc.integer({ min: 1, max: 70 }),
    inner,
    ms: fc.constantFrom(0, 0, 0, 1, -1, 600_000),
  });
const innermost = callWith(fc.constant([]));
const call = callWith(fc.array(callWith(fc.array(innermost, { maxLength: 2 })), { maxLength: 2 }));

/** A generator whose clock calls it back, as tracing that itself uses ids would. */
class Traced {
  readonly ids: string[] = [];
  readonly #all: LocalityGenerator[];
  readonly #isLeased: boolean;
  #user: LeaseUser | undefined;
  #window = { node: 1, from: START, until: START + 1e9 };
  #time = START;
  #pending: readonly Call[] = [];

  constructor(options: object, isLeased: boolean) {
    this.#isLeased = isLeased;
    const lease = asLease({
      [bindLease]: (user: LeaseUser) => {
        this.#user = user;
        return this.#window;
      },
    });
    const { clock } = this;
    this.#all = [new LocalityGenerator({ ...options, clock, node: isLeased ? lease : node })];
  }

  readonly clock = {
    now: () => {
      const calls = this.#pending;
      this.#pending = [];
      for (const each of calls) this.run(each);
      return this.#time;
    },
  };

  run({ what, count, inner, ms }: Call): void {
    this.#pending = inner;
    const generator = this.#all[(what === 'attached' ? count : 0) % this.#all.length]!;
    if (what === 'next' || what === 'attached') this.ids.push(generator.next());
    else if (what === 'uuid') this.ids.push(`${generator.nextUuid()}`);
    else if (what === 'batch') this.ids.push(...generator.batch(count));
    else if (what === 'fill') this.#fill(generator, count);
    else if (what === 'sequential') generator.useSequentialIds();
    else if (what === 'variable') generator.useVariableIds();
    else if (what === 'share' && !this.#isLeased)
      this.#all.push(LocalityGenerator.attach(generator.share(), { clock: this.clock }));
    else if (what === 'move') this.#move(count);
    this.#time += ms;
  }

  #fill(generator: LocalityGenerator, count: number): void {
    const bytes = new Uint8Array(16 * count);
    generator.fill(bytes);
    for (let at = 0; at < bytes.length; at += 16)
      this.ids.push(`${LocalityUuid.fromBytes(bytes.slice(at, at + 16))}`);
  }

  #move(count: number): void {
    const { until } = this.#window;
    this.#window =
      count % 2 ? { ...this.#window, until: until + 1 } : { node: count, from: until, until: until + 1e9 };
    this.#user?.move(this.#window);
  }
}

describe('a clock that calls the generator back', () => {
  it.each([
    ['of its own', false],
    ['with a lease', true],
  ])('never makes it repeat an id: %s', (_, isLeased) => {
    const options = fc.record({
      mode: fc.constantFrom('variable', 'sequential'),
      reversal: fc.constantFrom('full', 'java'),
      format: fc.constantFrom('locality', 'rfc9562'),
      reseed: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 40 }), options, (calls, options) => {
        const traced = new Traced(options, isLeased);
        for (const each of calls) traced.run(each);
        expect(repeated(traced.ids)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('leaves the seed alone that a toggle within has set', () => {
    let inside = () => {};
    const clock = {
      now() {
        const call = inside;
        inside = () => {};
        call();
        return START;
      },
    };
    const generator = new LocalityGenerator({ node, clock });
    const counter = (id: string) => Number.parseInt(id.slice(0, 8), 16);
    let first = '';
    inside = () => {
      generator.useSequentialIds();
      first = generator.next();
    };
    generator.useSequentialIds();
    expect(counter(generator.next())).toBe(counter(first) + 1);
  });
});
