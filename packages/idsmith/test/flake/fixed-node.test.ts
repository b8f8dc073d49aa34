import { acquireLease, defineLayout, FlakeGenerator, layouts, memoryStore, systemClock } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { increasing, NOW, named, smallLayouts } from './set-up.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A layout that no other test uses, so that its nodes have no past in this process. */
let layoutsMade = 0;
function freshLayout(sequenceBits = 12) {
  return defineLayout({ epoch: 1e12 + layoutsMade++, timeBits: 41, nodeBits: 4, sequenceBits });
}

describe('two generators with one fixed node', () => {
  const quick = [...Object.values(layouts), ...smallLayouts].filter(({ tick }) => tick <= 10);

  it.each(quick.map((layout) => [layout.fingerprint, layout] as const))(
    'strictly increase together, in turns: %s',
    (_name, layout) => {
      const [one, two] = [new FlakeGenerator({ layout, node: 7 }), new FlakeGenerator({ layout, node: 7 })];
      const ids = Array.from({ length: 10 }, () => [
        one.next(),
        two.next(),
        ...two.batch(3),
        ...one.batch(2),
      ]);
      expect(increasing(ids.flat())).toBe(true);
    },
  );

  it.each([
    ['the width of the time field', { timeBits: 41 }, { timeBits: 42 }],
    [
      'the place of a field without bits',
      { nodeBits: 0, order: ['time', 'node', 'sequence'] },
      { nodeBits: 0, order: ['time', 'sequence', 'node'] },
    ],
  ] as const)('go on from one another though their layouts differ in %s', (_, first, second) => {
    const base = { epoch: 1e12 + layoutsMade++, timeBits: 41, nodeBits: 4, sequenceBits: 8 };
    const [one, two] = [first, second].map(
      (rest) => new FlakeGenerator({ layout: defineLayout({ ...base, ...rest }), node: 0 }),
    ) as [FlakeGenerator, FlakeGenerator];
    const ids = Array.from({ length: 500 }, () => [one.next(), two.next()]);
    expect(increasing(ids.flat())).toBe(true);
  });

  it('repeat none of 200,000', () => {
    const make = () => new FlakeGenerator({ node: 7, layout: layouts.snowflake });
    const [one, two] = [make(), make()];
    const ids: bigint[] = [];
    for (let i = 0; i < 50_000; i++) ids.push(one.next(), two.next(), two.next(), one.next());
    expect(increasing(ids)).toBe(true);
  });

  it('are told by what the layout does, not by which object it is', () => {
    const shape = { epoch: 1e12 - 1, timeBits: 41, nodeBits: 4, sequenceBits: 2 };
    const [one, two] = [1, 2].map(() => new FlakeGenerator({ layout: defineLayout(shape), node: 7 }));
    expect(increasing([one?.next(), two?.next(), one?.next()] as bigint[])).toBe(true);
  });

  it.each([
    ['left out', undefined],
    ["the machine's", systemClock],
    ['Date', Date],
  ])('share it when the clock is %s', (_name, clock) => {
    const layout = freshLayout();
    const [one, two] = [
      new FlakeGenerator({ layout, node: 1 }),
      new FlakeGenerator({ layout, node: 1, ...(clock && { clock }) }),
    ];
    expect(increasing([one.next(), two.next(), one.next()])).toBe(true);
  });

  it('stay together when the clock steps back between them', () => {
    const now = vi.spyOn(Date, 'now').mockReturnValue(NOW);
    const layout = freshLayout(4);
    const make = () => new FlakeGenerator({ layout, node: 3 });
    const [one, two] = [make(), make()];
    const ids = [one.next(), two.next()];
    now.mockReturnValue(NOW + 5);
    ids.push(two.next());
    now.mockReturnValue(NOW);
    ids.push(one.next(), two.next(), make().next());
    now.mockReturnValue(NOW + 5);
    ids.push(one.next(), two.next());
    expect(increasing(ids)).toBe(true);
  });

  it('keep each to its own rule for a clock that steps back', () => {
    const now = vi.spyOn(Date, 'now').mockReturnValue(NOW);
    const layout = freshLayout();
    const holds = new FlakeGenerator({ layout, node: 3 });
    const throws = new FlakeGenerator({ layout, node: 3, onClockBack: 'throw' });
    holds.next();
    now.mockReturnValue(NOW - 1);
    expect(() => holds.next()).not.toThrow();
    expect(() => throws.next()).toThrow(named('CLOCK'));
    now.mockReturnValue(NOW - 10_001);
    expect(() => holds.next()).toThrow(named('CLOCK'));
  });

  it('stay apart with clocks of their own, with other nodes and with other layouts', () => {
    const layout = freshLayout();
    const clock = new FakeClock(NOW);
    const own = () => new FlakeGenerator({ layout, node: 1, clock }).next();
    expect(own()).toBe(own());
    vi.spyOn(Date, 'now').mockReturnValue(NOW);
    const first = (node: number, chosen = layout) =>
      chosen.decode(new FlakeGenerator({ layout: chosen, node }).next());
    expect([first(1), first(2), first(1, freshLayout())].map(({ sequence }) => sequence)).toEqual([0, 0, 0]);
    expect(first(1).sequence).toBe(1);
  });

  it('mint no tick twice when one of them is shared', () => {
    const layout = freshLayout(4);
    const make = () => new FlakeGenerator({ layout, node: 3 });
    const [shared, beside] = [make(), make()];
    const ids = [shared.next(), beside.next()];
    const attached = FlakeGenerator.attach(shared.share());
    for (let i = 1; i < 100; i++) ids.push(shared.next(), beside.next(), attached.next(), make().next());
    ids.push(...attached.batch(100), ...beside.batch(100), ...make().batch(100), ...shared.batch(100));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('mint no tick twice when both are shared', () => {
    const layout = freshLayout(4);
    const make = () => new FlakeGenerator({ layout, node: 3 });
    const [one, two] = [make(), make()];
    const ids = [one.next(), two.next()];
    const all = [one, two, FlakeGenerator.attach(one.share()), FlakeGenerator.attach(two.share())];
    for (let i = 1; i < 100; i++) ids.push(...all.map((generator) => generator.next()));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('a fixed node', () => {
  it("takes 'borrow' from nobody, and says what does", async () => {
    for (const clock of [systemClock, new FakeClock(NOW)]) {
      const make = () => new FlakeGenerator({ node: 1, onFull: 'borrow', clock });
      expect(make).toThrow(named('INVALID_OPTION'));
      expect(make).toThrow(/onFull 'borrow' needs a lease as node, not 1.*acquireLease/);
    }
    const lease = await acquireLease(memoryStore(), { namespace: 'borrows', size: 512 });
    expect(new FlakeGenerator({ node: lease, onFull: 'borrow' }).batch(100_000)).toHaveLength(100_000);
    await lease.release();
  });

  it('runs no further ahead of a clock that stepped back than it must', () => {
    const clock = new FakeClock(NOW);
    const layout = freshLayout(2);
    const generator = new FlakeGenerator({ layout, node: 1, clock });
    generator.next();
    clock.advance(-1);
    // The clock moves on by a millisecond while a hundred are asked for: they cannot all be had at once.
    const made: bigint[] = [];
    expect(() => {
      for (;;) made.push(generator.next());
    }).toThrow(/stands still/);
    const ahead = (id: bigint | undefined) => layout.decode(id as bigint).timestamp - clock.now();
    expect(ahead(made.at(-1))).toBeLessThanOrEqual(1 + 100);
    clock.advance(1);
    expect(ahead(generator.next())).toBeLessThanOrEqual(1 + 100);
    clock.advance(1000);
    expect(ahead(generator.next())).toBe(0);
  });
});
