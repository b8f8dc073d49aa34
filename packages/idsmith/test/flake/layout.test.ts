import fc from 'fast-check';
import { defineLayout, layouts } from 'idsmith';
import { describe, expect, it, vi } from 'vitest';

const named = (code: string) => expect.objectContaining({ code });
const SOUND = { epoch: 0, timeBits: 41, nodeBits: 10, sequenceBits: 12 };

/** Any layout that may be defined, the 64-bit ones often. */
const anyLayout = fc
  .record({
    timeBits: fc.integer({ min: 1, max: 53 }),
    nodeBits: fc.integer({ min: 0, max: 32 }),
    sequenceBits: fc.integer({ min: 0, max: 32 }),
    fill: fc.boolean(),
    epoch: fc.integer({ min: 0, max: Date.UTC(2026) }),
    tick: fc.constantFrom(1, 10, 1000),
    order: fc.constantFrom(['time', 'node', 'sequence'] as const, ['time', 'sequence', 'node'] as const),
  })
  .map(({ fill, ...options }) => {
    const spare = 64 - options.timeBits - options.nodeBits - options.sequenceBits;
    // Where there is room, some layouts take all 64 bits.
    if (fill && spare > 0 && options.nodeBits + spare <= 32) options.nodeBits += spare;
    return { options, bits: options.timeBits + options.nodeBits + options.sequenceBits };
  })
  .filter(({ bits }) => bits <= 64)
  .map(({ options }) => defineLayout(options));

describe('any layout', () => {
  it('gives the fields back that it was given', () => {
    const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(anyLayout, fraction, fraction, fraction, (layout, a, b, c) => {
        const pick = (part: number, max: number) => Math.floor(part * (max + 1));
        const lastTick = Math.min(layout.max('time'), Math.floor((8.64e15 - layout.epoch) / layout.tick) - 1);
        const timestamp = layout.timeOf(pick(a, lastTick));
        const [node, sequence] = [pick(b, layout.max('node')), pick(c, layout.max('sequence'))];
        if (!Number.isSafeInteger(timestamp)) return;
        const id = layout.encode({ timestamp, node, sequence });
        expect(id).toBeGreaterThanOrEqual(0n);
        expect(id >> BigInt(layout.bits)).toBe(0n);
        expect(layout.decode(id)).toMatchObject({ timestamp, node, sequence });
        expect(layout.decode(id.toString())).toMatchObject({ timestamp, node, sequence });
        expect(layout.decode(BigInt.asIntN(64, id))).toMatchObject({ timestamp, node, sequence });
        expect(layout.minId(timestamp) <= id && id <= layout.maxId(timestamp)).toBe(true);
        expect(layout.decode(layout.minId(timestamp))).toMatchObject({ timestamp, node: 0, sequence: 0 });
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the presets', () => {
  it.each([
    ['jflake', 63, '2083'],
    ['snowflake', 63, '2080'],
    ['instagram', 64, '2081'],
    ['discord', 64, '2154'],
    ['sonyflake', 63, '2188'],
    ['safe53', 53, '2095'],
  ] as const)('%s has %d bits and lasts until %s', (name, bits, year) => {
    expect(layouts[name].bits).toBe(bits);
    expect(layouts[name].expires.toISOString().slice(0, 4)).toBe(year);
  });

  it('order Sonyflake by time, sequence, node in ticks of 10 ms', () => {
    const { epoch } = layouts.sonyflake;
    expect(layouts.sonyflake.encode({ timestamp: epoch + 10, node: 3, sequence: 2 })).toBe(
      (1n << 24n) | (2n << 16n) | 3n,
    );
    expect(layouts.sonyflake.decode((1n << 24n) | 3n).timestamp).toBe(epoch + 10);
  });

  it('keep safe53 exact as a number, and for 60 years from 2026', () => {
    expect(Number(layouts.safe53.maxId(layouts.safe53.expires.getTime() - 1))).toBe(Number.MAX_SAFE_INTEGER);
    expect(layouts.safe53.expires.getTime()).toBeGreaterThan(Date.UTC(2086));
  });
});

describe('range helpers', () => {
  it('hold every id of an hour, and none of another', () => {
    const { snowflake } = layouts;
    const [start, end] = [Date.UTC(2026, 0, 1, 12), Date.UTC(2026, 0, 1, 13)];
    const at = (timestamp: number) => snowflake.encode({ timestamp, node: 1023, sequence: 4095 });
    expect(at(start - 1) < snowflake.minId(start)).toBe(true);
    expect(at(end - 1) < snowflake.minId(new Date(end))).toBe(true);
    expect(at(end - 1)).toBe(snowflake.maxId(end - 1));
  });

  it('begin at the epoch for earlier times, and end with the layout', () => {
    expect(layouts.jflake.minId(0)).toBe(0n);
    expect(() => layouts.jflake.maxId(layouts.jflake.expires)).toThrow(named('TIME_EXHAUSTED'));
    expect(() => layouts.jflake.minId(Number.NaN)).toThrow(named('INVALID_OPTION'));
    expect(() => layouts.jflake.minId(new Date('no'))).toThrow(named('INVALID_OPTION'));
  });
});

describe('a wrong layout', () => {
  it.each([
    [{ timeBits: 42, nodeBits: 12, sequenceBits: 12 }],
    [{ timeBits: 0 }],
    [{ timeBits: 54, nodeBits: 1, sequenceBits: 1 }],
    [{ nodeBits: -1 }],
    [{ nodeBits: 1.5 }],
    [{ sequenceBits: Number.NaN }],
    [{ sequenceBits: 33, timeBits: 20 }],
    [{ epoch: Date.now() + 86_400_000 }],
    [{ epoch: -1 }],
    [{ epoch: '0' }],
    [{ tick: 0 }],
    [{ tick: 0.5 }],
    [{ order: ['time', 'node'] }],
    [{ order: ['time', 'time', 'node'] }],
    [{ order: 'time,node,sequence' }],
    [{ order: ['time', 'node', 'sequence', 'time'] }],
    [{ order: ['sequence', 'time', 'node'] }],
    [{ order: ['node', 'time', 'sequence'] }],
    [{ order: ['node', 'sequence', 'time'] }],
    [{ epcoh: 0 }],
    [{ ticks: 10 }],
  ])('%o is refused', (wrong) => {
    expect(() => defineLayout({ ...SOUND, ...wrong } as never)).toThrow(named('INVALID_OPTION'));
  });

  it('may begin at any time while the clock is at 1970, as when a Worker loads its module', () => {
    const now = vi.spyOn(Date, 'now').mockReturnValue(0);
    const epoch = Date.UTC(2026, 9, 1);
    expect(defineLayout({ ...SOUND, epoch }).epoch).toBe(epoch);
    now.mockRestore();
  });

  it.each([null, undefined, 5])('%s is refused', (options) => {
    expect(() => defineLayout(options as never)).toThrow(named('INVALID_OPTION'));
  });
});

describe('a layout that is made', () => {
  it('does not change, whatever is done to what it was made of or gives out', () => {
    const order: ['time', 'sequence', 'node'] = ['time', 'sequence', 'node'];
    const layout = defineLayout({ ...SOUND, order });
    const { fingerprint } = layout;
    const fields = { timestamp: Date.UTC(2026), node: 5, sequence: 7 };
    const id = layout.encode(fields);
    (order as string[]).reverse();
    layout.expires.setTime(0);
    for (const change of [
      () => (layout.order as unknown as string[]).reverse(),
      () => Object.assign(layout, { epoch: 5 }),
      () => Object.assign(layout.fields.node, { bits: 20 }),
      () => Object.assign(layout.fields, { node: layout.fields.time }),
    ])
      expect(change).toThrow(TypeError);
    expect(layout.fingerprint).toBe(fingerprint);
    expect(layout.encode(fields)).toBe(id);
    expect(layout.decode(id)).toMatchObject(fields);
    expect(layout.expires.getTime()).toBeGreaterThan(Date.now());
  });
});

describe('pack', () => {
  const { jflake } = layouts;

  it.each([
    [0, 600, 0],
    [0, 512, 0],
    [0, -1, 0],
    [0, 1.5, 0],
    [0, Number.NaN, 0],
    [0, 0, 8192],
    [0, 0, -1],
    [2 ** 41, 0, 0],
    [-1, 0, 0],
    [Number.POSITIVE_INFINITY, 0, 0],
  ])('refuses tick %d, node %d, sequence %d: no field runs over into another', (tick, node, sequence) => {
    expect(() => jflake.pack(tick, node, sequence)).toThrow(named('INVALID_OPTION'));
  });

  it('takes the largest of each', () => {
    expect(jflake.pack(2 ** 41 - 1, 511, 8191)).toBe(2n ** 63n - 1n);
  });
});

describe('wrong fields and ids', () => {
  it.each([
    [{ node: -1 }],
    [{ node: 512 }],
    [{ sequence: 8192 }],
    [{ sequence: -1 }],
    [{ sequence: 0.5 }],
    [{ timestamp: layouts.jflake.epoch - 1 }],
    [{ timestamp: layouts.jflake.expires.getTime() }],
    [{ timestamp: Number.NaN }],
    [{ nod: 3 }],
    [{ seqence: 3 }],
  ])('encode refuses %o', (wrong) => {
    const fields = { timestamp: Date.UTC(2026), node: 0, sequence: 0, ...wrong };
    expect(() => layouts.jflake.encode(fields)).toThrow(named('INVALID_OPTION'));
  });

  it.each([
    -1n,
    1n << 63n,
    1n << 64n,
    -(1n << 63n) - 1n,
    2 ** 53,
    1.5,
    Number.NaN,
    '',
    'x',
    '1.5',
    '0x10',
    ' 1',
    '1'.repeat(30),
    null,
    {},
  ])('decode refuses %s', (id) => {
    expect(() => layouts.jflake.decode(id as never)).toThrow(named('INVALID_ID'));
  });

  it('encode takes what decode gives', () => {
    const id = 1703865194431643648n;
    expect(layouts.jflake.encode(layouts.jflake.decode(id))).toBe(id);
  });

  it('decode reads a negative id of a 64-bit layout as a signed column returns it', () => {
    const fields = { timestamp: Date.UTC(2060), node: 8191, sequence: 7 };
    const id = layouts.instagram.encode(fields);
    expect(BigInt.asIntN(64, id)).toBeLessThan(0n);
    expect(layouts.instagram.decode(BigInt.asIntN(64, id).toString())).toMatchObject(fields);
  });
});
