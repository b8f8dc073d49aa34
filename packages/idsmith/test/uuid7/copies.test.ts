import process from 'node:process';
import { type RandomSource, Uuid7Generator } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { handLease } from '../support/hand-lease.ts';
import { always, mint, notIncreasing, timeOf } from './set-up.ts';

const NOW = Date.UTC(2026, 0, 2);

/** A random source that counts its calls and the bytes asked for. */
function counting(): RandomSource & { calls: number; bytes: number } {
  return {
    calls: 0,
    bytes: 0,
    fill(target) {
      this.calls++;
      this.bytes += target.length;
      crypto.getRandomValues(target);
    },
  };
}

describe('a process that was copied', () => {
  const { pid } = process;
  const become = (value: number) => Object.defineProperty(process, 'pid', { value, configurable: true });
  afterEach(() => void become(pid));

  it('draws anew when it finds another process id, in a millisecond above all before', () => {
    const random = counting();
    const generator = new Uuid7Generator({ clock: new FakeClock(NOW), random });
    const ids = generator.batch(5);
    const { calls } = random;
    become(pid + 1);
    ids.push(...generator.batch(5));
    expect(random.calls).toBe(calls + 1);
    expect(ids.map((id) => timeOf(id) - NOW)).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    expect(notIncreasing(ids)).toEqual([]);
  });

  it('makes no id of those that were printed ahead in the other process', () => {
    const generator = new Uuid7Generator({ clock: new FakeClock(NOW) });
    const ids = mint(generator, 'next', 33);
    become(pid + 1);
    ids.push(generator.next());
    expect(timeOf(ids.at(-1) as string)).toBe(NOW + 1);
  });

  it('has no random numbers in stock once the clock has moved on', () => {
    const clock = new FakeClock(NOW);
    const random = counting();
    const generator = new Uuid7Generator({ clock, random });
    mint(generator, 'next', 10);
    const { calls } = random;
    clock.advance(1);
    generator.next();
    expect(random.calls).toBe(calls + 1);
    clock.advance(-1);
    generator.next();
    expect(random.calls).toBe(calls + 2);
  });

  it.each(['own', 'shared'])('discards ids and random numbers at fence(): %s', (how) => {
    const random = counting();
    const generator = new Uuid7Generator({ clock: new FakeClock(NOW), random });
    if (how === 'shared') generator.share();
    const ids = mint(generator, 'next', 33);
    const { calls } = random;
    const last = timeOf(ids.at(-1) as string);
    generator.fence();
    ids.push(generator.next());
    expect(random.calls).toBe(calls + 1);
    expect(timeOf(ids.at(-1) as string)).toBe(last + 1);
    expect(notIncreasing(ids)).toEqual([]);
  });

  it('stops minting on the lease of the process that it was copied from', () => {
    let fences = 0;
    const lease = Object.assign(handLease(3), {
      fence: () => {
        fences++;
        lease.move({ until: lease.window.from });
      },
    });
    const generator = new Uuid7Generator({ node: lease, clock: new FakeClock(NOW), random: always(1) });
    generator.batch(3);
    become(pid + 1);
    expect(() => generator.batch(3)).toThrow(expect.objectContaining({ code: 'LEASE_FENCED' }));
    expect(fences).toBe(1);
  });
});

describe('randomness', () => {
  it('is drawn for many ids at once while the clock gives the same reading, and little at first', () => {
    const random = counting();
    const generator = new Uuid7Generator({ clock: new FakeClock(NOW), random });
    generator.next();
    expect(random.bytes).toBe(24);
    mint(generator, 'next', 9_999);
    // About 8 bytes an id, in draws of at most 514 numbers.
    expect(random.bytes).toBeLessThan(12 * 10_000);
    expect(random.calls).toBeLessThan(40);
  });
});
