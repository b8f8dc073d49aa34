import fc from 'fast-check';
import { defineLayout, FlakeGenerator, type FlakeOptions, layouts } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { handLease } from '../support/hand-lease.ts';
import { everyLayout, increasing, NOW, named, tiny } from './set-up.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('next', () => {
  it('carries time, node and a sequence that begins at 0 in each tick', () => {
    const clock = new FakeClock(NOW);
    const generator = new FlakeGenerator({ node: 7, clock });
    const ids = [generator.next(), generator.next()];
    clock.advance(1);
    ids.push(generator.next());
    expect(ids.map((id) => layouts.jflake.decode(id))).toMatchObject([
      { timestamp: NOW, node: 7, sequence: 0 },
      { timestamp: NOW, node: 7, sequence: 1 },
      { timestamp: NOW + 1, node: 7, sequence: 0 },
    ]);
  });

  it('makes ids of every layout', () => {
    for (const layout of everyLayout) {
      const clock = new FakeClock(NOW + 5);
      const generator = new FlakeGenerator({ layout, node: 3, clock });
      const ids = [generator.next(), generator.next(), generator.next()];
      expect(ids.map((id) => layout.decode(id))).toMatchObject(
        [0, 1, 2].map((sequence) => ({
          node: 3,
          sequence,
          timestamp: layout.timeOf(layout.tickOf(NOW + 5)),
        })),
      );
    }
  });

  it('gives text, and numbers where they are exact', () => {
    const clock = new FakeClock(NOW + 1);
    const make = (layout = layouts.jflake) => new FlakeGenerator({ node: 1, clock, layout });
    expect(make().nextString()).toBe(make().next().toString());
    expect(make(layouts.safe53).nextNumber()).toBe(Number(make(layouts.safe53).next()));
    const wide = make();
    expect(() => wide.nextNumber()).toThrow(named('UNSAFE_INTEGER'));
    expect(layouts.jflake.decode(wide.next()).sequence).toBe(0);
  });
});

describe('a full tick', () => {
  it('is waited out: the ids go on in the next', () => {
    let reads = 0;
    const clock = { now: () => NOW + Math.floor(reads++ / 20) };
    const generator = new FlakeGenerator({ layout: tiny, node: 0, clock });
    const ids = Array.from({ length: 100 }, () => generator.next());
    expect(increasing(ids)).toBe(true);
    expect(ids.every((id) => tiny.decode(id).timestamp <= clock.now())).toBe(true);
  });

  it('is waited out however slowly the clock moves, as long as it does', () => {
    let reads = 0;
    const clock = { now: () => NOW + Math.floor(reads++ / 2_000_000) };
    const slow = defineLayout({ epoch: 0, timeBits: 42, nodeBits: 4, sequenceBits: 1, tick: 10 });
    const generator = new FlakeGenerator({ layout: slow, node: 0, clock });
    expect(increasing(generator.batch(3))).toBe(true);
  });

  it('is waited out in real time', () => {
    const generator = new FlakeGenerator({ layout: tiny, node: 0 });
    const ids = generator.batch(200);
    expect(increasing(ids)).toBe(true);
    expect(tiny.decode(ids[199] as bigint).timestamp).toBeLessThanOrEqual(Date.now());
  });

  it('is followed early by the next when ids may be borrowed', () => {
    const clock = new FakeClock(NOW);
    const generator = new FlakeGenerator({ layout: tiny, node: handLease(0), clock, onFull: 'borrow' });
    const ids = Array.from({ length: 10 }, () => generator.next());
    expect(ids.map((id) => tiny.decode(id).timestamp - NOW)).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
    clock.advance(1);
    expect(tiny.decode(generator.next()).timestamp).toBe(NOW + 2);
    clock.advance(9);
    expect(tiny.decode(generator.next())).toMatchObject({ timestamp: NOW + 10, sequence: 0 });
  });

  it('is borrowed no further than maxBackward ahead', () => {
    const clock = new FakeClock(NOW);
    const generator = new FlakeGenerator({
      layout: tiny,
      node: handLease(0),
      clock,
      onFull: 'borrow',
      maxBackward: 5,
    });
    expect(generator.batch(24)).toHaveLength(24);
    expect(() => generator.next()).toThrow(named('CLOCK'));
    clock.advance(1);
    expect(tiny.decode(generator.next()).timestamp).toBe(NOW + 6);
  });

  it('under a clock that stands still is an error, and not the end', () => {
    const clock = new FakeClock(NOW);
    const generator = new FlakeGenerator({ layout: tiny, node: 0, clock });
    generator.batch(4);
    expect(() => generator.next()).toThrow(/stands still/);
    clock.advance(1);
    expect(tiny.decode(generator.next())).toMatchObject({ timestamp: NOW + 1, sequence: 0 });
  });
});

describe('a clock that steps back', () => {
  it('is held: the ids go on in the last tick, and in the next when that is full', () => {
    const clock = new FakeClock(NOW);
    const generator = new FlakeGenerator({ layout: tiny, node: 0, clock });
    const ids = [generator.next()];
    clock.advance(-5000);
    for (let i = 0; i < 5; i++) ids.push(generator.next());
    expect(increasing(ids)).toBe(true);
    expect(ids.map((id) => tiny.decode(id).timestamp - NOW)).toEqual([0, 0, 0, 0, 1, 1]);
  });

  it('is an error when it goes back further than allowed, until it has caught up', () => {
    const clock = new FakeClock(NOW);
    const generator = new FlakeGenerator({ node: 0, clock });
    const first = generator.next();
    clock.advance(-10_001);
    expect(() => generator.next()).toThrow(named('CLOCK'));
    clock.advance(1);
    expect(generator.next()).toBeGreaterThan(first);
  });

  it('is an error at once when that is asked for', () => {
    const clock = new FakeClock(NOW);
    const generator = new FlakeGenerator({
      node: handLease(0),
      clock,
      onClockBack: 'throw',
      onFull: 'borrow',
      layout: tiny,
    });
    generator.batch(9);
    expect(() => generator.next()).not.toThrow();
    clock.advance(-1);
    expect(() => generator.next()).toThrow(named('CLOCK'));
    clock.advance(1);
    expect(() => generator.next()).not.toThrow();
  });
});

describe('ids', () => {
  it('strictly increase under any clock and any mixture of calls', () => {
    const call = fc.oneof(
      fc.record({ do: fc.constant('next' as const), n: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ do: fc.constant('batch' as const), n: fc.integer({ min: 1, max: 9 }) }),
      fc.record({ do: fc.constant('fill' as const), n: fc.integer({ min: 0, max: 9 }) }),
      fc.record({ do: fc.constant('clock' as const), n: fc.integer({ min: -30, max: 30 }) }),
      fc.record({ do: fc.constant('share' as const), n: fc.constant(0) }),
    );
    const layout = fc.constantFrom(tiny, layouts.sonyflake, layouts.safe53, layouts.instagram);
    fc.assert(
      fc.property(fc.array(call, { maxLength: 40 }), layout, fc.nat(3), (calls, chosen, node) => {
        const clock = new FakeClock(NOW);
        let generator = new FlakeGenerator({
          layout: chosen,
          node: handLease(node),
          clock,
          onFull: 'borrow',
        });
        const ids: bigint[] = [];
        for (const { do: what, n } of calls) {
          if (what === 'next') for (let i = 0; i < n; i++) ids.push(generator.next());
          else if (what === 'batch') ids.push(...generator.batch(n));
          else if (what === 'fill') {
            const target = new BigUint64Array(n);
            expect(generator.fill(target)).toBe(n);
            ids.push(...target);
          } else if (what === 'clock') clock.advance(n);
          else generator = FlakeGenerator.attach(generator.share(), { clock });
        }
        expect(increasing(ids)).toBe(true);
        expect(ids.every((id) => chosen.decode(id).node === node)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('are as fill and next make them', () => {
    for (const layout of everyLayout) {
      const make = () =>
        new FlakeGenerator({
          layout,
          node: handLease(2),
          clock: new FakeClock(NOW + 7),
          onFull: 'borrow',
          maxBackward: 60_000,
        });
      const one = make();
      const ids = Array.from({ length: 50 }, () => one.next());
      expect(make().batch(50)).toEqual(ids);
      const signed = new BigInt64Array(50);
      make().fill(signed);
      expect([...signed].map((id) => BigInt.asUintN(64, id))).toEqual(ids);
    }
  });
});

describe('a wrong option', () => {
  it.each([
    [{ node: -1 }, 'node'],
    [{ node: 512 }, 'node'],
    [{ node: 1.5 }, 'node'],
    [{ node: Number.NaN }, 'node'],
    [{ node: '3' }, 'node'],
    [{ node: null }, 'node'],
    [{ node: {} }, 'node'],
    [{}, 'node'],
    [{ node: 1, layout: 'jflake' }, 'layout'],
    [{ node: 1, clock: {} }, 'clock'],
    [{ node: 1, onFull: 'drop' }, 'onFull'],
    [{ node: 1, onClockBack: 'ignore' }, 'onClockBack'],
    [{ node: 1, maxBackward: -1 }, 'maxBackward'],
    [{ node: 1, maxBackward: null }, 'maxBackward'],
    [{ node: 1, layout: null }, 'layout'],
    [{ node: 1, onFull: null }, 'onFull'],
  ])('%o is refused by name', (options, name) => {
    const construct = () => new FlakeGenerator(options as FlakeOptions);
    expect(construct).toThrow(named('INVALID_OPTION'));
    expect(construct).toThrow(new RegExp(`^${name} must be `));
  });

  it.each([
    [{ node: 3, onfull: 'wait' }, 'onfull', 'onFull'],
    [{ nod: 3 }, 'nod', 'node'],
    [{ node: 3, maxBackwards: 5 }, 'maxBackwards', 'maxBackward'],
    [{ node: 3, onClockback: 'hold' }, 'onClockback', 'onClockBack'],
  ])('%o is refused with the name that was meant', (options, wrong, meant) => {
    const construct = () => new FlakeGenerator(options as never);
    expect(construct).toThrow(named('INVALID_OPTION'));
    expect(construct).toThrow(`unknown name "${wrong}"; did you mean "${meant}"?`);
  });

  it('a misspelt option of attach is refused', () => {
    const handle = new FlakeGenerator({ node: 1 }).share();
    expect(() => FlakeGenerator.attach(handle, { clok: new FakeClock(NOW) } as never)).toThrow(
      'did you mean "clock"?',
    );
  });

  it('a handle with a name that it does not know is refused', () => {
    const handle = new FlakeGenerator({ node: 1 }).share();
    const wrong = { ...handle, onfull: 'borrow' };
    expect(() => FlakeGenerator.attach(wrong)).toThrow(
      'handle: unknown name "onfull"; did you mean "onFull"?',
    );
    expect(() => FlakeGenerator.attach({ ...handle, turns: { ...handle.turns, slt: 1 } } as never)).toThrow(
      named('INVALID_OPTION'),
    );
    expect(FlakeGenerator.attach(structuredClone(handle)).next()).toBeTypeOf('bigint');
  });

  it('a batch of none is an empty array', () => {
    expect(new FlakeGenerator({ node: 0 }).batch(0)).toEqual([]);
  });

  it.each([-1, 1.5, Number.NaN, 2 ** 32, '5', null])('count %s is refused', (count) => {
    expect(() => new FlakeGenerator({ node: 0 }).batch(count as number)).toThrow(named('INVALID_OPTION'));
  });

  it.each([null, [], new Uint8Array(8), new Float64Array(1)])('target %s is refused', (target) => {
    expect(() => new FlakeGenerator({ node: 0 }).fill(target as never)).toThrow(named('INVALID_OPTION'));
  });

  it.each([Number.NaN, -1, undefined])('a clock that gives %s is refused', (reading) => {
    const clock = new FakeClock(NOW);
    const generator = new FlakeGenerator({ node: 0, clock });
    clock.time = reading as number;
    expect(() => generator.next()).toThrow(named('CLOCK'));
  });

  it('a clock before the epoch is refused', () => {
    const generator = new FlakeGenerator({ node: 0, clock: new FakeClock(layouts.jflake.epoch - 1) });
    expect(() => generator.next()).toThrow(named('CLOCK'));
  });
});

describe('the end of time', () => {
  const end = layouts.jflake.expires.getTime();

  it('is refused at construction', () => {
    expect(() => new FlakeGenerator({ node: 0, clock: new FakeClock(end) })).toThrow(named('TIME_EXHAUSTED'));
  });

  it('is told a year ahead', async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error) => warnings.push(warning);
    process.on('warning', listen);
    new FlakeGenerator({ node: 0, clock: new FakeClock(end - 86_400_000) });
    // Others may warn of something, too.
    await expect
      .poll(() => warnings)
      .toContainEqual(expect.objectContaining({ name: 'IdsmithWarning', code: 'TIME_EXHAUSTED' }));
    process.off('warning', listen);
  });

  it('is refused when it comes', () => {
    const clock = new FakeClock(end - 1);
    const generator = new FlakeGenerator({ node: 0, clock });
    generator.next();
    clock.advance(1);
    expect(() => generator.next()).toThrow(named('TIME_EXHAUSTED'));
  });
});
