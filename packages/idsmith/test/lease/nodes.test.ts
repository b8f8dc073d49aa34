import fc from 'fast-check';
import { acquireLease, FlakeGenerator, LocalityGenerator, layouts, leaseFlakes, memoryStore } from 'idsmith';
import { connect } from 'idsmith/connect';
import { describe, expect, it } from 'vitest';
import { pageOf } from '../../src/lease/acquire.ts';
import { summarise } from '../../src/lease/namespace.ts';
import { layoutOf, layoutWithin, splitLayout } from '../../src/lease/protocol.ts';
import { repeated } from '../support/unique.ts';
import { named, setUp, TTL } from './set-up.ts';

const layout = layouts.jflake;

/** Leases of the layout, without a size of their own. */
function ranges() {
  const parts = setUp();
  const lease = (nodes?: readonly [number, number]) =>
    acquireLease(parts.store, {
      namespace: 'test',
      layout,
      nodes,
      timer: parts.time,
      clock: parts.time.clock(),
    });
  return { ...parts, lease };
}

describe('a range of node ids', () => {
  it('is all that the store gives out, lowest first', async () => {
    const { lease, store, time } = ranges();
    const held = [await lease([300, 302]), await lease([300, 302]), await lease([300, 302])];
    expect(held.map(({ id, size }) => [id, size])).toEqual([
      [300, 3],
      [301, 3],
      [302, 3],
    ]);
    const refused = lease([300, 302]);
    await expect(refused).rejects.toThrow('all 3 are held');
    await expect(refused).rejects.toMatchObject({ code: 'LEASES_EXHAUSTED', taken: 3, size: 3 });
    expect(summarise(await store.listLeases('test'), time.now)).toEqual({
      layout: layout.fingerprint,
      nodes: [300, 302],
      size: 3,
      held: 3,
      expired: 0,
      used: 3,
    });
  });

  it('is kept when a lost lease is replaced', async () => {
    const { lease, time, state } = ranges();
    const held = await lease([7, 8]);
    state.down = true;
    await time.advance(2 * TTL);
    state.down = false;
    const other = await lease([7, 8]);
    await time.advance(TTL);
    expect([held.id, other.id].sort()).toEqual([7, 8]);
  });

  it('is read in pages of its own', () => {
    const settings = { store: memoryStore(), first: 1000, size: 130 };
    const pages = [0, 0.5, 0.99].map((fraction) => pageOf(settings, 0, true, fraction));
    expect(pages).toEqual([
      { first: 1000, count: 64 },
      { first: 1064, count: 64 },
      { first: 1128, count: 2 },
    ]);
  });

  it('comes back from the text that the namespace remembers', () => {
    const range = fc.tuple(fc.nat(), fc.nat());
    fc.assert(
      fc.property(fc.option(range, { nil: undefined }), (nodes) => {
        expect(splitLayout(layoutWithin(layout.fingerprint, nodes))).toEqual({
          layout: layout.fingerprint,
          nodes,
        });
      }),
    );
  });

  it.each([
    [[0, 512], 'nodes[1] must be a whole number from 0 to 511, not 512'],
    [[-1, 5], 'nodes[0] must be a whole number from 0 to 511, not -1'],
    [[5, 4], 'nodes[1] must be a whole number from 5 to 511, not 4'],
    [[0.5, 4], 'nodes[0] must be'],
    [[0, Number.NaN], 'nodes[1] must be'],
    [[0], 'nodes must be two numbers, the first and the last node id'],
    [[0, 1, 2], 'nodes must be two numbers'],
    ['0-255', 'nodes must be two numbers'],
    [null, 'nodes must be two numbers'],
  ])('of %j is refused', async (nodes, message) => {
    const { lease } = ranges();
    await expect(lease(nodes as never)).rejects.toThrow(message);
  });

  it('needs a layout, and leaves no room for a size', async () => {
    const { store } = ranges();
    const options = { namespace: 'test', nodes: [0, 5] as const };
    await expect(acquireLease(store, { ...options, size: 9 })).rejects.toThrow(
      'nodes must be given together with layout',
    );
    await expect(acquireLease(store, { ...options, layout, size: 6 })).rejects.toThrow(
      'size must be left out where nodes is given, not 6',
    );
  });
});

describe('the range of a namespace', () => {
  it.each([
    ['a part of it', [0, 127]],
    ['one that overlaps it', [200, 300]],
    ['a larger one', [0, 300]],
    ['one beside it', [256, 511]],
    ['all of the layout', [0, 511]],
    ['none', undefined],
  ] as const)('refuses %s, before anything is held', async (_name, other) => {
    const { lease, store } = ranges();
    await lease([0, 255]);
    await lease([0, 255]);
    const refused = lease(other);
    await expect(refused).rejects.toThrow(named('INVALID_OPTION'));
    await expect(refused).rejects.toThrow(
      /namespace "test" of this store gives out the node ids 0 to 255, not .*Set nodes to \[0, 255\]/,
    );
    expect((await store.listLeases('test')).filter(({ id }) => id >= 0)).toHaveLength(2);
  });

  it('cannot be set where all node ids are given out', async () => {
    const { lease } = ranges();
    await lease();
    await lease([0, 511]);
    await expect(lease([0, 255])).rejects.toThrow(
      /gives out all node ids, not the node ids 0 to 255: .*Leave nodes out/,
    );
  });

  it('is another layout to a version that knows no ranges', async () => {
    const { lease, store, time } = ranges();
    await lease([0, 255]);
    // Such a version compares this text with the fingerprint of its layout, as this one does with another layout.
    expect(layoutOf(await store.listLeases('test'))).toBe(`${layout.fingerprint} nodes:0-255`);
    const options = { namespace: 'test', timer: time, clock: time.clock() };
    const other = acquireLease(store, { ...options, layout: layouts.snowflake });
    await expect(other).rejects.toThrow(/has ids of the layout ".* nodes:0-255", not /);
  });

  it('refuses a flake generator on a lease without it, and serves generators of other ids', async () => {
    const { lease, store, time } = ranges();
    await lease([0, 255]);
    const size = layout.nodes;
    const plain = await acquireLease(store, {
      namespace: 'test',
      size,
      timer: time,
      clock: time.clock(),
    });
    expect(() => new FlakeGenerator({ node: plain, layout })).toThrow('gives out the node ids 0 to 255');
    expect(() => new LocalityGenerator({ node: plain, clock: time.clock() }).next()).not.toThrow();
  });

  it('ends a flake generator that named no range at the same moment', async () => {
    const { lease, store, time } = ranges();
    const clock = time.clock();
    const plain = await acquireLease(store, { namespace: 'test', size: layout.nodes, timer: time, clock });
    await lease([0, 255]);
    const flakes = new FlakeGenerator({ node: plain, layout, clock });
    await time.advance(1);
    expect(() => flakes.next()).toThrow(named('LEASE_FENCED'));
  });
});

describe('two regions with a store each', () => {
  /** Ids of one millisecond from both stores. */
  async function mintedBy(nodes: readonly (readonly [number, number] | undefined)[]): Promise<bigint[]> {
    const ids: bigint[] = [];
    for (const each of nodes) {
      const { store, time } = setUp();
      const options = { namespace: 'orders', timer: time, clock: time.clock(), nodes: each };
      const flakes = [await leaseFlakes(store, options), await leaseFlakes(store, options)];
      ids.push(...flakes.flatMap((generator) => generator.batch(100)));
    }
    return ids;
  }

  it('repeat ids without ranges, and never with them', async () => {
    expect(repeated(await mintedBy([undefined, undefined]))).toHaveLength(200);
    const ids = await mintedBy([
      [0, 255],
      [256, 511],
    ]);
    expect([ids.length, repeated(ids)]).toEqual([400, []]);
  });
});

describe('ids.flakes with a range', () => {
  it('is the same generator for an equal range, and refuses another', async () => {
    await using ids = await connect(memoryStore());
    const flakes = await ids.flakes('orders', { nodes: [256, 511] });
    expect(flakes.lease?.id).toBe(256);
    expect(await ids.flakes('orders', { nodes: [256, 511] })).toBe(flakes);
    expect(await ids.flakes('orders')).toBe(flakes);
    await expect(ids.flakes('orders', { nodes: [0, 255] })).rejects.toThrow(named('INVALID_OPTION'));
    await expect(ids.flakes('orders', { nodes: [0, 255], instance: 'b' })).rejects.toThrow(
      'gives out the node ids 256 to 511',
    );
  });
});
