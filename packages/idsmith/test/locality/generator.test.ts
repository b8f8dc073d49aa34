import { LocalityGenerator, LocalityUuid } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { repeated } from '../support/unique.ts';

const node = { processId: 12618, mac: Uint8Array.of(2, 66, 0xfd, 0x53, 0x7a, 0x50) };
const prefix = (id: string) => id.slice(0, 8);
const timeOf = (id: string) => LocalityUuid.parse(id).timestamp?.getTime() as number;

describe('variable mode', () => {
  it('takes all 256 values of the first byte in any 256 consecutive ids', () => {
    const ids = new LocalityGenerator().batch(5000);
    const firstBytes = ids.map((id) => id.slice(0, 2));
    for (let start = 0; start + 256 <= ids.length; start++) {
      expect(new Set(firstBytes.slice(start, start + 256)).size).toBe(256);
    }
  });

  it('does so too when ids are asked for one by one, over many milliseconds', () => {
    const generator = new LocalityGenerator();
    const ids = Array.from({ length: 50_000 }, () => generator.next());
    expect(new Set(ids.map(timeOf)).size).toBeGreaterThan(1);
    for (let start = 0; start + 256 <= ids.length; start += 17) {
      expect(new Set(ids.slice(start, start + 256).map((id) => id.slice(0, 2))).size).toBe(256);
    }
  });

  it('keeps 16 shards by leading digit within one id in 1,600', () => {
    const ids = new LocalityGenerator().batch(160_000);
    for (let start = 0; start < ids.length; start += 1600) {
      const shards = new Map<string, number>();
      for (const id of ids.slice(start, start + 1600))
        shards.set(id.charAt(0), (shards.get(id.charAt(0)) ?? 0) + 1);
      expect(shards.size).toBe(16);
      for (const count of shards.values()) expect(Math.abs(count - 100)).toBeLessThanOrEqual(1);
    }
  });

  it('writes the counter in reverse and the node and time as they are', () => {
    const generator = new LocalityGenerator({
      node,
      clock: new FakeClock(1350327498450),
      counter: 106928579,
    });
    expect(generator.next()).toBe('87654321-314a-bd53-7a50-013a65ca76d2');
  });

  it('starts from a random counter', () => {
    const clock = new FakeClock(1);
    const starts = Array.from({ length: 20 }, () => new LocalityGenerator({ node, clock }).next());
    expect(repeated(starts)).toEqual([]);
  });

  it('starts from the random source it is given', () => {
    const random = { fill: (target: Uint8Array) => void target.fill(0) };
    expect(prefix(new LocalityGenerator({ node, random }).next())).toBe('5bcb4db0');
  });
});

describe('a batch', () => {
  it.each([1, 63, 64, 65, 1000, 4097])(
    'of %d goes on where next() was and next() goes on after it',
    (count) => {
      const make = () => new LocalityGenerator({ node, clock: new FakeClock(5), counter: 7 });
      const [mixed, plain] = [make(), make()];
      const ids = [mixed.next(), mixed.next(), mixed.next(), ...mixed.batch(count), mixed.next()];
      expect(ids).toEqual(Array.from({ length: count + 4 }, () => plain.next()));
    },
  );
});

describe('fill', () => {
  it.each(['variable', 'sequential'] as const)(
    'writes the bytes of the texts that next() gives, %s',
    (mode) => {
      for (const reversal of ['full', 'java'] as const) {
        const make = () =>
          new LocalityGenerator({ mode, reversal, node, clock: new FakeClock(5), counter: -5e8 });
        const bytes = new Uint8Array(16 * 1500);
        expect(make().fill(bytes)).toBe(1500);
        const texts = make().batch(1500);
        texts.forEach((text, i) => {
          expect(LocalityUuid.fromBytes(bytes.slice(i * 16, i * 16 + 16)).toString()).toBe(text);
        });
      }
    },
  );

  it('fills whole ids only, in any place of a buffer, and leaves the rest alone', () => {
    const bytes = new Uint8Array(60).fill(7);
    expect(new LocalityGenerator().fill(bytes.subarray(3, 50))).toBe(2);
    expect([...bytes.subarray(0, 3)]).toEqual([7, 7, 7]);
    expect([...bytes.subarray(35)]).toEqual(new Array(25).fill(7));
    expect(LocalityUuid.fromBytes(bytes.slice(3, 19)).version).toBe('b');
    expect(new LocalityGenerator().fill(new Uint8Array(15))).toBe(0);
  });
});

describe('the timestamp', () => {
  it('is never older than the call and never newer than its return', () => {
    const generator = new LocalityGenerator({ node });
    for (let i = 0; i < 200_000; i++) {
      const before = Date.now();
      const id = generator.next();
      const ms = Number.parseInt(id.slice(24), 16);
      if (ms < before || ms > Date.now()) expect.fail(`${id} was made at ${before}`);
    }
  });

  it("is the given clock's, whatever other generators of this process have claimed", () => {
    new LocalityGenerator().next();
    expect(timeOf(new LocalityGenerator({ clock: new FakeClock(5000) }).next())).toBe(5000);
    expect(timeOf(new LocalityGenerator({ clock: new FakeClock() }).next())).toBe(0);
  });

  it('is read anew while bytes are filled', () => {
    let reads = 0;
    const bytes = new Uint8Array(16 * 4000);
    new LocalityGenerator({ node, clock: { now: () => 1000 + reads++ } }).fill(bytes);
    expect(timeOf(LocalityUuid.fromBytes(bytes.slice(-16)).toString())).toBeGreaterThan(1003);
  });

  it('is read anew within a long batch', () => {
    let reads = 0;
    const clock = { now: () => 1000 + reads++ };
    const ids = new LocalityGenerator({ node, clock }).batch(1000);
    expect(new Set(ids.map(timeOf)).size).toBeGreaterThan(10);
  });

  it('follows a clock that steps back', () => {
    const clock = new FakeClock(10_000);
    const generator = new LocalityGenerator({ node, clock });
    generator.next();
    clock.advance(-5000);
    expect(timeOf(generator.next())).toBe(5000);
  });

  it('is cut to whole milliseconds when the clock gives fractions', () => {
    expect(timeOf(new LocalityGenerator({ node, clock: new FakeClock(1234.9) }).next())).toBe(1234);
  });
});
