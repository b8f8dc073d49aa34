import { FlakeGenerator, type FlakeOptions, layouts } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { handLease } from '../support/hand-lease.ts';
import { everyLayout, increasing, NOW, named, tiny } from './set-up.ts';

describe.each([
  ['own', false],
  ['shared', true],
])("a lease's window and a state of the %s kind", (_kind, isShared) => {
  function make(lease: ReturnType<typeof handLease>, options: Partial<FlakeOptions> = {}) {
    const clock = new FakeClock(NOW);
    const generator = new FlakeGenerator({ node: lease, clock, ...options });
    if (isShared) generator.share();
    return { clock, generator };
  }

  it.each([600, 512, -1, 1.5, Number.NaN])(
    'with node %s is refused by jflake, and no id comes out wrong',
    (node) => {
      const lease = handLease(88, NOW - 1000, NOW + 10);
      const { clock, generator } = make(lease);
      const ids = generator.batch(5);
      expect(() => lease.move({ node, from: NOW, until: NOW + 30_000 })).toThrow(named('INVALID_OPTION'));
      ids.push(generator.next(), ...generator.batch(5));
      clock.advance(9);
      ids.push(generator.next());
      expect(increasing(ids)).toBe(true);
      expect(new Set(ids.map((id) => layouts.jflake.decode(id).node))).toEqual(new Set([88]));
      clock.advance(1);
      expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
      lease.move({ node: 89, from: NOW, until: NOW + 30_000 });
      expect(layouts.jflake.decode(generator.next()).node).toBe(89);
    },
  );

  it('may have any node of the layout, to the last', () => {
    for (const layout of everyLayout) {
      const lease = handLease(0);
      const { generator, clock } = make(lease, { layout });
      const last = generator.next();
      lease.move({ node: layout.max('node') });
      clock.advance(layout.tick);
      const id = generator.next();
      expect(layout.decode(id)).toMatchObject({ node: layout.max('node') });
      expect(id).toBeGreaterThan(last);
    }
  });

  it('ends at once when it is moved there, though the clock has not moved', () => {
    const lease = handLease(3, NOW - 1000, NOW + 1000);
    const { generator } = make(lease);
    generator.next();
    generator.next();
    lease.move({ until: NOW });
    expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
    expect(() => generator.batch(2)).toThrow(named('LEASE_FENCED'));
  });

  it.each([0, 1, 10_000])('may begin a second ahead of the clock, with maxBackward %d', (maxBackward) => {
    const lease = handLease(3, NOW + 1000);
    const { clock, generator } = make(lease, { layout: tiny, maxBackward });
    const ids = [generator.next(), ...generator.batch(99)];
    expect(increasing(ids)).toBe(true);
    expect(tiny.decode(ids[0] as bigint)).toMatchObject({ timestamp: NOW + 1000, sequence: 0 });
    for (let ms = 0; ms < 2000; ms++) {
      clock.advance(1);
      const made = generator.batch(4);
      expect(made.every((id) => id > (ids.at(-1) as bigint))).toBe(true);
      ids.push(...made);
      expect(tiny.decode(made[3] as bigint).timestamp - clock.now()).toBeLessThanOrEqual(1000 + 100);
    }
  });

  it('that begins later is not waited for until the clock is there', () => {
    let reads = 0;
    const clock = { now: () => NOW + Math.floor(reads++ / 100) };
    const lease = handLease(3, NOW + 5000);
    const { generator } = make(lease, { layout: tiny, maxBackward: 0, clock });
    expect(increasing(generator.batch(1000))).toBe(true);
    // Ids go on at the pace of the clock: a thousand take 250 ms.
    expect(clock.now()).toBeLessThan(NOW + 300);
  });
});

describe('borrowing up to the limit', () => {
  it('goes on with each millisecond of the clock, not after all that was borrowed', () => {
    let reads = 0;
    const clock = { now: () => NOW + Math.floor(reads++ / 100) };
    const generator = new FlakeGenerator({ layout: tiny, node: handLease(3), clock, onFull: 'borrow' });
    generator.batch(4 * 10_000);
    const before = clock.now();
    generator.batch(40);
    expect(clock.now() - before).toBeLessThan(50);
  });
});

describe('fill() that fails after its claim', () => {
  it('leaves nothing that next() would count on from', () => {
    const clock = { time: NOW, target: undefined as BigUint64Array | undefined, now: () => clock.read() } as {
      time: number;
      target: BigUint64Array | undefined;
      now: () => number;
      read: () => number;
    };
    clock.read = () => {
      // The array is sent to another thread while it is being filled.
      if (clock.target)
        structuredClone(clock.target.buffer, { transfer: [clock.target.buffer as ArrayBuffer] });
      clock.target = undefined;
      return clock.time;
    };
    const generator = new FlakeGenerator({ layout: layouts.jflake, node: handLease(3), clock });
    const ids = Array.from({ length: 9 }, () => generator.next());
    clock.time += 1;
    const target = new BigUint64Array(4);
    clock.target = target;
    expect(() => generator.fill(target)).toThrow(TypeError);
    for (let i = 0; i < 9; i++) ids.push(generator.next());
    expect(increasing(ids)).toBe(true);
  });
});
