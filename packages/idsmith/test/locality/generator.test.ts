import fc from 'fast-check';
import { LocalityGenerator, LocalityUuid, systemClock } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { idsIn, repeated } from '../support/unique.ts';

const node = { processId: 12618, mac: Uint8Array.of(2, 66, 0xfd, 0x53, 0x7a, 0x50) };
const prefix = (id: string) => id.slice(0, 8);
const counterOf = (id: string) => Number.parseInt(prefix(id), 16);
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

describe('sequential mode', () => {
  it('makes 1,000 ids that each follow the last by one and share their leading bytes', () => {
    const generator = new LocalityGenerator({ node, clock: new FakeClock(Date.UTC(2026, 0, 1)) });
    generator.useSequentialIds();
    const ids = Array.from({ length: 1000 }, () => generator.next());
    ids.reduce((last, id) => {
      expect(counterOf(id)).toBe(counterOf(last) + 1);
      return id;
    });
    expect(new Set(ids.map((id) => id.slice(0, 4))).size).toBe(1);
  });

  it('starts from the same seed on machines toggled in the same window', () => {
    const start = Date.UTC(2026, 5, 1, 12, 30);
    const toggled = (processId: number, time: number) => {
      const mac = Uint8Array.from({ length: 6 }, (_, i) => processId * i);
      const generator = new LocalityGenerator({ node: { processId, mac }, clock: new FakeClock(time) });
      generator.next();
      generator.useSequentialIds();
      return generator.next();
    };
    const [a, b, c] = [toggled(1, start), toggled(2, start + 599_999), toggled(2, start + 600_000)];
    expect(prefix(a)).toBe(prefix(b));
    expect(a).not.toBe(b);
    expect(prefix(c)).not.toBe(prefix(b));
  });

  it('keeps one seed for a whole hour when told to', () => {
    const start = Date.UTC(2026, 5, 1, 12);
    const first = (time: number) =>
      prefix(
        new LocalityGenerator({ mode: 'sequential', window: 'hour', clock: new FakeClock(time) }).next(),
      );
    expect(first(start)).toBe(first(start + 3_599_999));
    expect(first(start)).not.toBe(first(start + 3_600_000));
  });

  it('keeps counting when the window turns, unless it is told to reseed', () => {
    const run = (reseed: boolean) => {
      const clock = new FakeClock(Date.UTC(2026, 5, 1, 12));
      const generator = new LocalityGenerator({ mode: 'sequential', reseed, clock, node });
      const before = generator.next();
      clock.advance(600_000);
      const fresh = new LocalityGenerator({ mode: 'sequential', clock, node }).next();
      return { before, after: generator.next(), fresh };
    };
    const kept = run(false);
    expect(counterOf(kept.after)).toBe(counterOf(kept.before) + 1);
    const reseeded = run(true);
    expect(prefix(reseeded.after)).toBe(prefix(reseeded.fresh));
  });

  it('takes a new seed once when the window turns, and none when the clock goes back', () => {
    for (const [window, length] of [
      ['ten-minutes', 600_000],
      ['hour', 3_600_000],
    ] as const) {
      const clock = new FakeClock(Date.UTC(2026, 5, 1, 12));
      const generator = new LocalityGenerator({ mode: 'sequential', reseed: true, window, clock, node });
      generator.next();
      clock.advance(length - 1);
      const last = counterOf(generator.next());
      clock.advance(1);
      const [first, second] = [counterOf(generator.next()), counterOf(generator.next())];
      expect(first).not.toBe(last + 1);
      expect(second).toBe(first + 1);
      clock.advance(-1);
      expect(counterOf(generator.next())).toBe(second + 1);
    }
  });

  it('passes its mode and its window on to those who share it', () => {
    const clock = new FakeClock(Date.UTC(2026, 5, 1, 12));
    const generator = new LocalityGenerator({ reseed: true, clock, node });
    generator.useSequentialIds();
    const handle = generator.share();
    clock.advance(600_000);
    const attached = LocalityGenerator.attach(handle, { clock });
    expect(prefix(attached.next())).toBe(
      prefix(new LocalityGenerator({ mode: 'sequential', clock, node }).next()),
    );
  });

  it('leaves a shared counter to the others when it changes its mode', () => {
    const generator = new LocalityGenerator({ mode: 'sequential', node, counter: 10 });
    const attached = LocalityGenerator.attach(generator.share());
    attached.useVariableIds();
    attached.batch(5);
    expect(counterOf(generator.next())).toBe(11);
    const again = LocalityGenerator.attach(attached.share());
    expect(again.next().slice(0, 2)).not.toBe(attached.next().slice(0, 2));
  });

  it('changes nothing when it is asked for twice', () => {
    const clock = new FakeClock(Date.UTC(2026, 5, 1));
    const generator = new LocalityGenerator({ clock });
    generator.useSequentialIds();
    const first = generator.next();
    generator.useSequentialIds();
    expect(counterOf(generator.next())).toBe(counterOf(first) + 1);
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

describe('uniqueness', () => {
  it('holds for those who join a walk that was begun anew in this millisecond', () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 1));
    const generator = new LocalityGenerator({ node, clock });
    generator.useSequentialIds();
    const ids = generator.batch(3);
    generator.useVariableIds();
    generator.useSequentialIds();
    const attached = LocalityGenerator.attach(generator.share(), { clock });
    expect(repeated([...ids, ...attached.batch(3), ...generator.batch(3)])).toEqual([]);
  });

  it('holds when Java reversal has come round in one millisecond', () => {
    const generator = new LocalityGenerator({
      node,
      clock: new FakeClock(5000),
      counter: 0,
      reversal: 'java',
    });
    const chunk = new Uint8Array(16 * 65_536);
    const lastTime = () => {
      generator.fill(chunk);
      return Number(LocalityUuid.fromBytes(chunk.slice(-16)).timestamp);
    };
    const times = Array.from({ length: 257 }, lastTime);
    expect(times.slice(0, 256).every((time) => time === 5000)).toBe(true);
    expect(times[256]).toBe(5001);
  });

  it('holds when the clock itself asks for ids', () => {
    const ids: string[] = [];
    let [time, depth] = [100, 0];
    const clock = {
      now() {
        if (depth++ === 0) for (let i = 0; i < 4; i++) ids.push(generator.next());
        depth--;
        return time;
      },
    };
    const generator: LocalityGenerator = new LocalityGenerator({ node, clock });
    ids.push(...generator.batch(8));
    time++;
    ids.push(generator.next(), ...generator.batch(3), generator.next());
    expect(repeated(ids)).toEqual([]);
  });

  it('holds at the end of time, which is refused', () => {
    const clock = new FakeClock(2 ** 48 - 1);
    const generator = new LocalityGenerator({ node, clock });
    expect(timeOf(generator.next())).toBe(2 ** 48 - 1);
    generator.useSequentialIds();
    expect(() => generator.next()).toThrow(expect.objectContaining({ code: 'TIME_EXHAUSTED' }));
  });

  it("holds among generators that were given the machine's own clock", () => {
    const make = () => new LocalityGenerator({ mode: 'sequential', clock: systemClock });
    expect(repeated([...make().batch(1000), ...make().batch(1000)])).toEqual([]);
  });

  it('holds for 1,000,000 ids of one thread', () => {
    const generator = new LocalityGenerator();
    const ids = function* () {
      for (let i = 0; i < 1_000_000; i++) yield generator.next();
    };
    expect(repeated(ids())).toEqual([]);
  });

  it('holds when modes are toggled over and over within one millisecond', () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 1));
    const generator = new LocalityGenerator({ node, clock });
    const ids: string[] = [];
    for (let i = 0; i < 50; i++) {
      generator.useSequentialIds();
      ids.push(...generator.batch(3), generator.next());
      generator.useVariableIds();
      ids.push(...generator.batch(3), generator.next());
    }
    expect(repeated(ids)).toEqual([]);
  });

  it('holds among generators of one process that were given nothing to differ in', () => {
    const generators = Array.from(
      { length: 6 },
      (_, i) => new LocalityGenerator({ mode: i % 2 ? 'variable' : 'sequential' }),
    );
    const ids: string[] = [];
    for (let i = 0; i < 20_000; i++) ids.push((generators[i % 6] as LocalityGenerator).next());
    expect(repeated(ids)).toEqual([]);
    const latest = Math.max(...ids.slice(-6).map(timeOf));
    // Each takes milliseconds of its own, so six of them run at most a few ahead of the clock.
    expect(latest - Date.now()).toBeLessThan(12);
  });

  it('holds under any clock and any mixture of calls', () => {
    const call = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ do: fc.constant('next' as const), times: fc.integer({ min: 1, max: 9 }) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('batch' as const), times: fc.integer({ min: 1, max: 70 }) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('fill' as const), times: fc.integer({ min: 0, max: 9 }) }),
      },
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant('clock' as const), times: fc.integer({ min: -3, max: 3 }) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('jump' as const),
          times: fc.integer({ min: -2e6, max: 2e6 }),
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({
          do: fc.constantFrom('variable', 'sequential', 'share'),
          times: fc.constant(0),
        }),
      },
    );
    fc.assert(
      fc.property(fc.array(call, { minLength: 5, maxLength: 60 }), fc.boolean(), (calls, reseed) => {
        const clock = new FakeClock(Date.UTC(2026, 0, 1));
        let generator = new LocalityGenerator({ node, clock, reseed });
        const others: LocalityGenerator[] = [generator];
        const ids: string[] = [];
        for (const { do: what, times } of calls) {
          if (what === 'next') for (let i = 0; i < times; i++) ids.push(generator.next());
          else if (what === 'batch') ids.push(...generator.batch(times));
          else if (what === 'fill') {
            const bytes = new Uint8Array(16 * times);
            generator.fill(bytes);
            ids.push(
              ...Array.from(idsIn(bytes), (id) =>
                LocalityUuid.fromBytes(Buffer.from(id, 'latin1')).toString(),
              ),
            );
          } else if (what === 'variable') generator.useVariableIds();
          else if (what === 'sequential') generator.useSequentialIds();
          else if (what === 'share') {
            others.push(LocalityGenerator.attach(generator.share(), { clock }));
            generator = others[ids.length % others.length] as LocalityGenerator;
          } else clock.advance(times);
        }
        for (const each of others) ids.push(each.next());
        expect(repeated(ids)).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });
});
