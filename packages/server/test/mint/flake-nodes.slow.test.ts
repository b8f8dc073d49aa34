import { type FlakeGenerator, layouts, memoryStore, type Store } from 'idsmith';
import { connect } from 'idsmith/connect';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FlakeNodes } from '../../src/mint/flake-nodes.ts';
import { LeasedGenerator } from '../../src/mint/leased-generator.ts';
import { jsonLines, makeLog } from '../../src/ops/log.ts';
import { TestServer } from '../support/server.ts';

const layout = layouts.jflake;
const HALF = 5000;

describe('The node ids of a server', () => {
  let store: Store;
  let nodes: FlakeNodes;
  const lines: string[] = [];
  const log = makeLog(
    'info',
    jsonLines((line) => lines.push(line)),
  );

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    lines.length = 0;
    store = memoryStore();
    const ids = await connect(store);
    const make = (number: number) => {
      const open = (options: object) => ids.flakes({ ...options, namespace: 'x', layout });
      const kind = { family: 'flake', label: `flake ${number}`, namespace: 'x', open };
      return new LeasedGenerator<FlakeGenerator>(kind, ids, log);
    };
    nodes = new FlakeNodes(layout, make, log);
    await nodes.first.start();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    vi.useRealTimers();
    nodes.close();
    await Promise.all(nodes.all.map((each) => each.release()));
  });

  const nodeOf = (generator: FlakeGenerator) => generator.lease?.id as number;
  /** The node ids of so many calls in one tick, each for more than half of the ids of a tick. */
  function used(calls: number): Set<number> {
    const now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 1);
    const ids = new Set(Array.from({ length: calls }, () => nodes.use(HALF, nodeOf)));
    clock.mockRestore();
    return ids;
  }
  const held = async () => (await store.listLeases('x')).filter(({ owner, id }) => id >= 0 && owner !== null);

  it('are one as long as its ids suffice', async () => {
    for (let i = 0; i < 100; i++) expect(used(1).size).toBe(1);
    for (let i = 0; i < 1000; i++) nodes.use(1, nodeOf);
    expect(await held()).toHaveLength(1);
  });

  it('are more under load, four at most, and one again after a minute without', async () => {
    for (const count of [2, 3, 4]) {
      used(60);
      await expect.poll(() => nodes.all.length).toBe(count);
      expect(used(count).size).toBe(count);
    }
    used(200);
    expect(await held()).toHaveLength(4);
    expect(new Set(nodes.all.map(({ label }) => label)).size).toBe(4);
    // The first minute with use, the second without.
    vi.advanceTimersByTime(60_000);
    expect(nodes.all).toHaveLength(4);
    vi.advanceTimersByTime(60_000);
    expect(nodes.all).toHaveLength(1);
    await expect.poll(held).toHaveLength(1);
    expect(used(10).size).toBe(1);
  });

  it('mint no id twice together', async () => {
    used(60);
    await expect.poll(() => nodes.all.length).toBe(2);
    const ids: bigint[] = [];
    const seen = new Set<number>();
    for (let i = 0; i < 200; i++) {
      const batch = new BigUint64Array(3000);
      seen.add(nodes.use(3000, (generator) => generator.fill(batch) && nodeOf(generator)));
      ids.push(...batch);
    }
    expect(new Set(ids).size).toBe(ids.length);
    const decoded = new Set(ids.map((id) => layout.decode(id).node));
    expect(decoded).toEqual(seen);
  });

  it('stay one where all others are held, without disturbing anybody', async () => {
    store.swapLease = async () => false;
    expect(used(200).size).toBe(1);
    await expect.poll(() => lines.join('')).toContain('"event":"no further node id"');
    used(200);
    expect(nodes.all).toHaveLength(1);
    expect(lines.filter((line) => line.includes('no further node id'))).toHaveLength(1);
  });

  it('fall back to the first if a further one is lost', async () => {
    used(60);
    await expect.poll(() => nodes.all.length).toBe(2);
    await nodes.all[1]!.release();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 1);
    const first = nodes.use(HALF, nodeOf);
    expect(nodes.use(HALF, (generator) => generator.next() && nodeOf(generator))).toBe(first);
    clock.mockRestore();
  });
});

it('A server that is asked for more than a node id has mints no id twice, and releases all node ids', async () => {
  const store = memoryStore();
  const server = await TestServer.prepare({}, store);
  const calls = Array.from({ length: 400 }, () => server.post('/v1/flakes?count=2500'));
  const ids = (await Promise.all(calls)).flatMap(({ json }) => json.ids as string[]);
  expect(ids).toHaveLength(1_000_000);
  expect(new Set(ids).size).toBe(1_000_000);
  await server.stop();
  const records = await store.listLeases('jflake');
  expect(records.filter(({ owner, id }) => id >= 0 && owner !== null)).toEqual([]);
});
