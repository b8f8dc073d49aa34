import fc from 'fast-check';
import { Uuid7Generator, type Uuid7Options } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { validate, version } from 'uuid';
import { describe, expect, it } from 'vitest';
import { always, type Call, mint, notIncreasing, randomPart, textsIn, timeOf } from './set-up.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const CALLS: Call[] = ['next', 'batch', 'fill'];

describe('a UUIDv7 generator', () => {
  it.each(CALLS)('makes standard UUIDs of version 7 with the time of the clock: %s', (how) => {
    for (const id of mint(new Uuid7Generator({ clock: new FakeClock(NOW) }), how, 1000)) {
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
      expect([validate(id), version(id), timeOf(id)]).toEqual([true, 7, NOW]);
    }
  });

  it('makes the same ids as text and as bytes', () => {
    const options = () => ({ clock: new FakeClock(NOW), random: always(0x5a) });
    const [text, bytes] = [new Uuid7Generator(options()), new Uuid7Generator(options())];
    expect(mint(bytes, 'fill', 64)).toEqual(text.batch(64));
  });

  it('increases strictly through any history of calls and clock steps, with any random source', () => {
    const act = fc.tuple(
      fc.constantFrom(...CALLS),
      fc.integer({ min: 1, max: 150 }),
      fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(-3_600_000, 3_600_000, 0.25, -0.5)),
    );
    const source = fc.option(fc.constantFrom(0, 0x80, 0xff), { nil: undefined });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), source, fc.boolean(), (acts, byte, isShared) => {
        const clock = new FakeClock(NOW);
        const generator = new Uuid7Generator({
          clock,
          ...(byte !== undefined && { random: always(byte) }),
        });
        const ids: string[] = [];
        for (const [i, [how, count, step]] of acts.entries()) {
          if (isShared && i === 5) generator.share();
          ids.push(...mint(generator, how, count));
          clock.advance(step);
        }
        expect(notIncreasing(ids)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('increases strictly across real milliseconds', () => {
    const generator = new Uuid7Generator();
    const ids: string[] = [];
    while (new Set(ids.map(timeOf)).size < 5) ids.push(...mint(generator, 'next', 500));
    expect(notIncreasing(ids)).toEqual([]);
  });

  it('keeps the highest time when the clock goes back, and takes the time of the clock when it is ahead again', () => {
    const clock = new FakeClock(NOW);
    const generator = new Uuid7Generator({ clock });
    const times = [0, -5000, 2000, 2999, 2].map((step) => {
      clock.advance(step);
      return timeOf(generator.next()) - NOW;
    });
    expect(times).toEqual([0, 0, 0, 0, 1]);
  });
});

describe('the random part', () => {
  const ids = new Uuid7Generator({ clock: new FakeClock(NOW) }).batch(20_000);

  it('moves by random steps of up to 2^56, so that a neighbour does not reveal the next id', () => {
    const parts = ids.map(randomPart);
    const steps = parts.slice(1).map((part, i) => part - (parts[i] as bigint));
    expect(steps.every((step) => step >= 1n && step <= 1n << 56n)).toBe(true);
    expect(new Set(steps).size).toBe(steps.length);
    // Of uniform steps, half are in the upper half, and the odds of 500 more or less are below 1 in 10^11.
    const large = steps.filter((step) => step > 1n << 55n).length;
    expect(Math.abs(large - steps.length / 2)).toBeLessThan(500);
    // Every bit of a step varies.
    for (let bit = 0n; bit < 56n; bit++) {
      expect(new Set(steps.map((step) => (step >> bit) & 1n)).size).toBe(2);
    }
  });

  it('uses all 74 bits for the first id of a millisecond', () => {
    const clock = new FakeClock(NOW);
    const generator = new Uuid7Generator({ clock });
    const firsts = Array.from({ length: 400 }, () => {
      clock.advance(1);
      return randomPart(generator.next());
    });
    for (let bit = 0n; bit < 74n; bit++)
      expect(new Set(firsts.map((part) => (part >> bit) & 1n)).size).toBe(2);
  });

  it.each([0, 0x7f, 0xbf, 0xff])(
    'holds 65,000 ids in a millisecond, whatever the source gives: %d',
    (byte) => {
      const generator = new Uuid7Generator({ clock: new FakeClock(NOW), random: always(byte) });
      const made = generator.batch(65_000);
      expect(new Set(made.map(timeOf))).toEqual(new Set([NOW]));
      expect(notIncreasing(made)).toEqual([]);
    },
  );

  it('moves the time on when it overflows, by one millisecond', () => {
    const generator = new Uuid7Generator({ clock: new FakeClock(NOW), random: always(0xff) });
    const made = generator.batch(300_000);
    expect([...new Set(made.map(timeOf))]).toEqual([NOW, NOW + 1, NOW + 2]);
    expect(notIncreasing(made)).toEqual([]);
  });

  it('moves the time at most 10 seconds ahead of the clock', () => {
    const clock = new FakeClock(NOW);
    const generator = new Uuid7Generator({ clock });
    let last = '';
    for (let i = 0; i <= 10_000; i++) {
      generator.fence();
      last = generator.next();
    }
    expect(timeOf(last)).toBe(NOW + 10_000);
    generator.fence();
    const stopped = expect.objectContaining({ code: 'CLOCK', message: expect.stringContaining('10000 ms') });
    expect(() => generator.next()).toThrow(stopped);
    expect(() => generator.fill(new Uint8Array(16))).toThrow(stopped);
    clock.advance(1);
    expect(timeOf(generator.next())).toBe(NOW + 10_001);
  });
});

describe('a clock that misbehaves', () => {
  it.each([Number.NaN, -1, -0.5, 2 ** 48, 1 / 0, '5', undefined, null, 5n])(
    'and gives %s makes no id, and changes nothing',
    (reading) => {
      const clock = new FakeClock(NOW);
      const generator = new Uuid7Generator({ clock });
      const before = mint(generator, 'next', 5);
      for (const call of [
        () => generator.next(),
        () => generator.batch(3),
        () => generator.fill(new Uint8Array(48)),
      ]) {
        clock.time = reading as number;
        expect(call).toThrow(
          expect.objectContaining({ code: expect.stringMatching(/CLOCK|TIME_EXHAUSTED/) }),
        );
      }
      clock.time = NOW;
      const after = mint(generator, 'next', 5);
      expect(after.map(timeOf)).toEqual(Array(5).fill(NOW));
      expect(notIncreasing([...before, ...after])).toEqual([]);
    },
  );

  it('and throws lets the error through, and changes nothing', () => {
    let isBroken = false;
    const clock = {
      now() {
        if (isBroken) throw new Error('no time');
        return NOW;
      },
    };
    const generator = new Uuid7Generator({ clock });
    const ids = mint(generator, 'next', 5);
    isBroken = true;
    expect(() => generator.next()).toThrow('no time');
    expect(() => generator.batch(2)).toThrow('no time');
    isBroken = false;
    ids.push(...mint(generator, 'next', 5));
    expect(notIncreasing(ids)).toEqual([]);
  });
});

describe('code that mints with the generator that calls it', () => {
  /** Ids in the order in which they were made. The inner call comes first, because the outer one is not finished. */
  function mintWithin(part: 'clock' | 'random', isShared: boolean): string[] {
    const ids: string[] = [];
    let depth = 0;
    const reenter = () => {
      if (depth > 2) return;
      depth++;
      for (const how of CALLS) ids.push(...mint(generator, how, 3));
      depth--;
    };
    const options: Uuid7Options = {
      clock: {
        now() {
          if (part === 'clock') reenter();
          return NOW + ids.length;
        },
      },
      random: {
        fill(target) {
          crypto.getRandomValues(target);
          if (part === 'random') reenter();
        },
      },
    };
    const generator = new Uuid7Generator(options);
    if (isShared) generator.share();
    for (const how of CALLS) for (const id of mint(generator, how, 5)) ids.push(id);
    return ids;
  }

  it.each([
    ['clock', false],
    ['random', false],
    ['clock', true],
    ['random', true],
  ] as const)('is a %s: no id comes twice (shared: %s)', (part, isShared) => {
    const ids = mintWithin(part, isShared);
    expect(ids.length).toBeGreaterThan(100);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is a random source that throws: nothing changes', () => {
    let isBroken = false;
    const random = {
      fill(target: Uint8Array) {
        if (isBroken) throw new Error('no bits');
        target.fill(7);
      },
    };
    const clock = new FakeClock(NOW);
    const generator = new Uuid7Generator({ clock, random });
    const first = generator.next();
    isBroken = true;
    clock.advance(50);
    expect(() => generator.next()).toThrow('no bits');
    isBroken = false;
    clock.advance(-50);
    const second = generator.next();
    expect([timeOf(second), second > first]).toEqual([NOW, true]);
  });
});

describe('bad input', () => {
  const refused = expect.objectContaining({ code: 'INVALID_OPTION' });

  it.each([-1, 1.5, Number.NaN, 2 ** 24 + 1, '3', null, undefined, 1 / 0, {}, 5n])(
    'of %s as a count is refused, and harms no later id',
    (count) => {
      const clock = new FakeClock(NOW);
      const generator = new Uuid7Generator({ clock });
      const ids = mint(generator, 'next', 3);
      expect(() => generator.batch(count as number)).toThrow(refused);
      expect(() => generator.fill(count as unknown as Uint8Array)).toThrow(refused);
      ids.push(...mint(generator, 'next', 200));
      const steps = ids.map(randomPart).map((part, i, all) => part - (all[i - 1] ?? 0n));
      expect(notIncreasing(ids)).toEqual([]);
      expect(new Set(steps).size).toBe(steps.length);
    },
  );

  it.each([new Uint16Array(16), new DataView(new ArrayBuffer(16)), new ArrayBuffer(16), [1], 'x'])(
    'as a target is refused: %o',
    (target) => expect(() => new Uuid7Generator().fill(target as unknown as Uint8Array)).toThrow(refused),
  );

  it('is an option that is not known, or not what it should be', () => {
    const make = (options: object | null) => () => new Uuid7Generator(options as Uuid7Options);
    expect(make({ clok: 1 })).toThrow(/did you mean "clock"/);
    for (const options of [{ clock: 5 }, { random: {} }, { node: 7 }, { node: {} }, { node: null }, null])
      expect(make(options)).toThrow(refused);
  });

  it('is a handle that is not from share()', () => {
    const attach = (handle: unknown) => () => Uuid7Generator.attach(handle as never);
    const buffer = new SharedArrayBuffer(16);
    for (const handle of [
      null,
      {},
      7,
      { position: new ArrayBuffer(16) },
      { position: new SharedArrayBuffer(8) },
      { position: buffer, more: 1 },
    ])
      expect(attach(handle)).toThrow(refused);
    expect(() => Uuid7Generator.attach({ position: buffer }, { node: 1 } as never)).toThrow(refused);
  });
});

describe('fill()', () => {
  it('writes whole ids only, at any offset, in any memory', () => {
    const generator = new Uuid7Generator();
    const memory = new Uint8Array(new SharedArrayBuffer(100)).fill(0xee);
    const target = memory.subarray(3, 3 + 16 * 2 + 15);
    expect(generator.fill(target)).toBe(2);
    expect(textsIn(target.slice(0, 32)).map((id) => version(id))).toEqual([7, 7]);
    expect([...memory.subarray(0, 3), ...memory.subarray(3 + 32)].every((byte) => byte === 0xee)).toBe(true);
    expect(generator.fill(new Uint8Array(15))).toBe(0);
    expect(generator.batch(0)).toEqual([]);
  });
});
