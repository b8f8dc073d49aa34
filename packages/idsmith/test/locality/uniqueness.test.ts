import fc from 'fast-check';
import { LocalityGenerator, LocalityUuid, systemClock } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { atDepth } from '../../../../test/depth.ts';
import { idsIn, repeated } from '../support/unique.ts';

const node = { processId: 12618, mac: Uint8Array.of(2, 66, 0xfd, 0x53, 0x7a, 0x50) };
const timeOf = (id: string) => LocalityUuid.parse(id).timestamp?.getTime() as number;

describe('uniqueness', () => {
  it('holds for those who join a shared counter that was begun anew in this millisecond', () => {
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
      { numRuns: atDepth(2000) },
    );
  });
});
