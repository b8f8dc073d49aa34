import { FlakeGenerator } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { handLease } from '../support/hand-lease.ts';
import { increasing, NOW, named, straddling, tiny } from './set-up.ts';

const calls: [string, (generator: FlakeGenerator) => unknown][] = [
  ['next', (generator) => generator.next()],
  ['nextString', (generator) => generator.nextString()],
  ['nextNumber', (generator) => generator.nextNumber()],
  ['batch', (generator) => generator.batch(2)],
  ['fill', (generator) => generator.fill(new BigUint64Array(2))],
];

const noTimes = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  -1,
  -0.5,
  -(2 ** 53),
  2 ** 53,
  undefined,
  null,
  '5',
  5n,
  {},
] as number[];

function make(isShared: boolean) {
  const clock = new FakeClock(NOW);
  const lease = handLease(3);
  const generator = new FlakeGenerator({ layout: tiny, node: lease, clock, onFull: 'borrow' });
  if (isShared) generator.share();
  return { clock, lease, generator };
}

describe.each([
  ['own', false],
  ['shared', true],
])('with a state of its %s kind', (_kind, isShared) => {
  it.each(noTimes)('a clock that gives %s mints nothing, whatever came before', (reading) => {
    for (const [, before] of calls) {
      for (const [, call] of calls) {
        const { clock, generator } = make(isShared);
        clock.time = reading;
        expect(() => call(generator)).toThrow(named('CLOCK'));
        clock.time = NOW;
        before(generator);
        const last = generator.next();
        before(generator);
        clock.time = reading;
        expect(() => call(generator)).toThrow(named('CLOCK'));
        expect(() => call(generator)).toThrow(named('CLOCK'));
        clock.time = NOW;
        expect(generator.next()).toBeGreaterThan(last);
      }
    }
  });

  it.each([...noTimes, 0, NOW, NOW + 0.5, NOW + 1])(
    'a clock that gives %s mints nothing once released',
    (reading) => {
      for (const [, call] of calls) {
        const { clock, lease, generator } = make(isShared);
        generator.next();
        call(generator);
        const lastUsed = lease.release();
        clock.time = reading;
        for (const [, again] of calls)
          expect(() => again(generator)).toThrow(/the clock|clock\.now\(\)|was released/);
        expect(lease.release()).toBe(lastUsed);
      }
    },
  );

  it('0 is a time like any other', () => {
    const { clock, generator } = make(isShared);
    clock.time = 0;
    const ids = [generator.next(), generator.next(), ...generator.batch(2)];
    expect(ids.map((id) => tiny.decode(id))).toMatchObject(
      [0, 1, 2, 3].map((sequence) => ({ timestamp: 0, node: 3, sequence })),
    );
  });

  it('a fraction counts as the millisecond that it lies in', () => {
    const { clock, generator } = make(isShared);
    const ids = [0.25, 0.25, 0.75, 0, 1.5, 1.5, 2].map((part) => {
      clock.time = NOW + part;
      return generator.next();
    });
    expect(increasing(ids)).toBe(true);
    expect(ids.map((id) => tiny.decode(id).timestamp - NOW)).toEqual([0, 0, 0, 0, 1, 1, 2]);
  });
});

describe('a reading below the epoch', () => {
  it.each([false, true])('mints nothing, and the next good one does (shared: %s)', (isShared) => {
    const clock = new FakeClock(NOW);
    const generator = new FlakeGenerator({
      layout: straddling,
      node: 3,
      clock,
      maxBackward: 365 * 86_400_000,
    });
    if (isShared) generator.share();
    for (const [name, call] of calls) {
      if (name === 'nextNumber') continue;
      const last = generator.next();
      for (const reading of [0, 1, straddling.epoch - 1, straddling.epoch - 0.5]) {
        clock.time = reading;
        expect(() => call(generator)).toThrow(named('CLOCK'));
      }
      clock.time = NOW;
      expect(generator.next()).toBeGreaterThan(last);
    }
  });
});
