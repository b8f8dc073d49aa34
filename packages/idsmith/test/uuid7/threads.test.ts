import { Uuid7Generator } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { atDepth } from '../../../../test/depth.ts';
import { idsIn, repeated } from '../support/unique.ts';
import { inWorker } from '../support/workers.ts';
import { always, type Call, mint, notIncreasing, timeOf } from './set-up.ts';

const worker = new URL('scripts/attached-worker.mjs', import.meta.url);
const CALLS: Call[] = ['next', 'batch', 'fill'];
const NOW = Date.UTC(2026, 0, 2);

describe('threads that share a UUIDv7 generator', () => {
  it.each([undefined, 0, 0xff])(
    'each make increasing ids, and never one twice, with the random byte %s',
    async (byte) => {
      const generator = new Uuid7Generator(byte === undefined ? {} : { random: always(byte) });
      const count = atDepth(100_000);
      const gate = new SharedArrayBuffer(4);
      const data = { handle: generator.share(), count, byte, gate, threads: 4 };
      const working = Promise.all([1, 2, 3].map(() => inWorker<Uint8Array>(worker, data)));
      // Begins when the workers do, and mints while they are at it.
      const arrived = new Int32Array(gate);
      await expect.poll(() => Atomics.load(arrived, 0)).toBe(3);
      Atomics.add(arrived, 0, 1);
      Atomics.notify(arrived, 0);
      const own = Buffer.from(mint(generator, 'next', count).join('').replaceAll('-', ''), 'hex');
      const parts = [own, ...(await working)].map((part) => [...idsIn(part)]);
      for (const part of parts) expect(notIncreasing(part)).toEqual([]);
      expect(repeated(parts.flat())).toEqual([]);
      expect(parts.flat()).toHaveLength(4 * count);
    },
  );

  it('get ids in the order in which they ask, in one millisecond and with clocks that differ', () => {
    const clocks = [new FakeClock(NOW), new FakeClock(NOW), new FakeClock(NOW - 5000)];
    const [first, ...others] = clocks as [FakeClock, ...FakeClock[]];
    const generator = new Uuid7Generator({ clock: first });
    const before = generator.next();
    const threads = [
      generator,
      ...others.map((clock) => Uuid7Generator.attach(generator.share(), { clock })),
    ] as const;
    const ids = [before];
    for (let i = 0; i < 200; i++) {
      const thread = threads[i % 3] as Uuid7Generator;
      ids.push(...mint(thread, CALLS[i % 3] as Call, (i % 7) + 1));
    }
    expect(notIncreasing(ids)).toEqual([]);
    expect(new Set(ids.map(timeOf))).toEqual(new Set([NOW, NOW + 1]));
  });

  it.each([0, 0x7f, 0xff])('keep a run of 512 ids in its slot, whatever the source gives: %d', (byte) => {
    const clock = new FakeClock(NOW);
    const generator = new Uuid7Generator({ clock, random: always(byte) });
    const slots = new Set<string>();
    const ids: string[] = [];
    generator.share();
    for (let i = 0; i < 20; i++) {
      const run = mint(generator, 'fill', 512);
      const own = new Set(
        run.map((id) => (BigInt(`0x${id.slice(15, 18)}${id.slice(19, 23)}`) >> 10n).toString()),
      );
      expect(own.size).toBe(1);
      for (const slot of own) slots.add(slot);
      ids.push(...run);
    }
    expect(slots.size).toBe(20);
    expect(notIncreasing(ids)).toEqual([]);
  });

  it('move the time on when the slots of a millisecond are used up', () => {
    const generator = new Uuid7Generator({ clock: new FakeClock(NOW), random: always(0xff) });
    generator.share();
    const ids = mint(generator, 'next', 80_000);
    expect([...new Set(ids.map(timeOf))]).toEqual([NOW, NOW + 1, NOW + 2]);
    expect(notIncreasing(ids)).toEqual([]);
  });

  it('share one handle, which a second share() and an attached generator give, too', () => {
    const generator = new Uuid7Generator();
    const handle = generator.share();
    expect(generator.share()).toBe(handle);
    expect(Uuid7Generator.attach(handle).share()).toEqual(handle);
  });

  it('are stopped by a time that is too late, and by a lead of more than 10 seconds', () => {
    const clock = new FakeClock(NOW);
    const generator = new Uuid7Generator({ clock });
    generator.share();
    generator.next();
    for (let i = 0; i < 10_000; i++) {
      generator.fence();
      generator.next();
    }
    generator.fence();
    expect(() => generator.next()).toThrow(expect.objectContaining({ code: 'CLOCK' }));
    clock.time = 2 ** 48;
    expect(() => generator.next()).toThrow(expect.objectContaining({ code: 'TIME_EXHAUSTED' }));
  });
});
