import { describe, expect, it } from 'vitest';
import type { ReshardContext } from '../../src/reshard/context.ts';
import type { KeyMover, MoveResult } from '../../src/reshard/key-mover.ts';
import { ConcurrentTasks, NodePasses } from '../../src/reshard/move-all-keys.ts';
import type { RedisKey } from '../../src/reshard/redis-keys.ts';

/** A key as a driver returns it, and as a test writes it. */
const encoded = (key: RedisKey) => Buffer.from(key as string);
const written = (key: RedisKey) => (typeof key === 'string' ? key : [...key].join(','));

const turns = async () => {
  for (let i = 0; i < 50; i++) await null;
};

type Move = (
  keys: readonly RedisKey[],
  isRetry: boolean,
) => Partial<MoveResult> | Promise<Partial<MoveResult>>;

/** Old nodes with these keys, in the lists that a scan gives, and what is done with the keys. Keys go to the node of their first letter. */
function world(nodes: Record<string, readonly RedisKey[][]>, { batch = 2, concurrency = 1 } = {}) {
  const did: string[] = [];
  const state = {
    move: (() => ({})) as Move,
    controller: new AbortController(),
    wait: async (_: number) => {},
  };
  const givingNodes = Object.entries(nodes).map(([address, lists]) => {
    const server = {
      async command(_: string, name: string, cursor?: string) {
        await turns();
        if (name === 'DBSIZE') return String(lists.flat().length);
        const at = Number(cursor);
        return [at + 1 < lists.length ? String(at + 1) : '0', (lists[at] ?? []).map(encoded)];
      },
    };
    return {
      address,
      layout: async () => 'same',
      servers: async () => [server, { ...server, command }],
      keyOf,
    };
  });
  function keyOf(key: RedisKey): RedisKey {
    return key;
  }
  /** A second server of the same node, with three keys that stay. */
  async function command(_: string, name: string) {
    return name === 'DBSIZE' ? '3' : ['0', ['-1', '-2', '-3'].map(encoded)];
  }
  const context = {
    givingNodes,
    ownerChange: (source: string, target: string) => `${source} ${target}`,
  } as unknown as ReshardContext;
  const placement = {
    sort(keys: readonly RedisKey[]) {
      const leaving = new Map<string, RedisKey[]>();
      for (const key of keys) {
        const target = typeof key === 'string' ? (key[0] as string) : 'a';
        if (target !== '-') leaving.set(target, [...(leaving.get(target) ?? []), key]);
      }
      const leavingCount = [...leaving.values()].flat().length;
      return { leaving, leavingCount, staying: keys.length - leavingCount, skipped: [] };
    },
  };
  const mover = {
    async move(change: unknown, keys: readonly RedisKey[], isRetry: boolean) {
      did.push(`${change}: ${keys.map(written).join(' ')}${isRetry ? ' again' : ''}`);
      const given = await state.move(keys, isRetry);
      return { keys: keys.length, bytes: 0, superseded: 0, again: [], hasChanged: false, lost: [], ...given };
    },
  };
  const counted = { expected: [] as number[], scanned: 0, moved: [] as string[] };
  const progress = {
    expect: (count: number) => counted.expected.push(count),
    scanned: ({ leavingCount }: { leavingCount: number }) => {
      counted.scanned += leavingCount;
    },
    moved: (from: string, to: string, { keys }: MoveResult) => counted.moved.push(`${from} ${to} ${keys}`),
  };
  const rateLimit = { wait: (count: number) => state.wait(count) };
  const passes = new NodePasses(context, {
    placement,
    mover: mover as unknown as KeyMover,
    progress,
    rateLimit,
    batch,
    concurrency,
    signal: state.controller.signal,
  } as unknown as ConstructorParameters<typeof NodePasses>[1]);
  return { passes, did, counted, state };
}

describe('A pass over old nodes', () => {
  it('moves the keys of each new owner in batches, and then the rest', async () => {
    const { passes, did, counted } = world({
      o: [
        ['a1', 'b1', '-0'],
        ['a2', 'a3'],
        ['a4', 'a5'],
      ],
    });
    expect(await passes.run(true)).toBe(6);
    expect(did).toEqual(['o a: a1 a2', 'o a: a3 a4', 'o a: a5', 'o b: b1']);
    expect(counted).toEqual({
      expected: [10],
      scanned: 6,
      moved: ['o a 2', 'o a 2', 'o a 1', 'o b 1'],
    });
  });

  it('counts the keys of all nodes, and as progress only the first time', async () => {
    const { passes, did, counted } = world({ o: [['a1']], p: [['a2', 'b1']] });
    expect(await passes.run(false)).toBe(3);
    expect(counted).toMatchObject({ expected: [], scanned: 0 });
    expect([...did].sort()).toEqual(['o a: a1', 'p a: a2', 'p b: b1']);
  });

  it('moves a batch as soon as it is full, and no batch without keys', async () => {
    const { passes, did, state } = world({ o: [['b1', 'a1', 'a2']] });
    const counts: number[] = [];
    state.wait = async (count) => void counts.push(count);
    await passes.run(true);
    expect(did).toEqual(['o a: a1 a2', 'o b: b1']);
    expect(counts).toEqual([2, 1]);
  });

  it('ends after its last batch', async () => {
    const { passes, state } = world({ o: [['a1', 'b1', 'c1']] });
    let ended = 0;
    state.move = async () => {
      await turns();
      ended++;
      return {};
    };
    await passes.run(true);
    expect(ended).toBe(3);
  });

  it('moves a key once that the scan gave twice, whether a text or bytes', async () => {
    const [bytes, same, other] = [
      [255, 1],
      [255, 1],
      [255, 2],
    ].map((list) => Uint8Array.from(list));
    const { passes, did } = world({ o: [['a1', 'a1', 'a2', 'a3']] }, { batch: 4 });
    await passes.run(true);
    expect(did).toEqual(['o a: a1 a2 a3']);
    const mixed = world({ o: [['a1', bytes!, same!, other!]] }, { batch: 4 });
    await mixed.passes.run(true);
    expect(mixed.did).toEqual(['o a: a1 255,1 255,2']);
    const binary = world({ o: [[bytes!, same!, other!]] }, { batch: 3 });
    await binary.passes.run(true);
    expect(binary.did).toEqual(['o a: 255,1 255,2']);
  });

  it('keeps to the rate', async () => {
    const { passes, did, state } = world({ o: [['a1', 'a2', 'a3']] });
    let go = () => {};
    const counts: number[] = [];
    state.wait = (count) => {
      counts.push(count);
      return new Promise((resolve) => {
        go = resolve;
      });
    };
    const done = passes.run(true);
    await turns();
    for (let i = 0; i < 20; i++) await turns();
    expect([counts, did]).toEqual([[2], []]);
    go();
    for (let i = 0; i < 20; i++) await turns();
    expect([counts, did]).toEqual([[2, 1], ['o a: a1 a2']]);
    go();
    await done;
    expect(did).toEqual(['o a: a1 a2', 'o a: a3']);
  });

  it('tries keys again that were written, twenty times, as long as there are no fewer', async () => {
    const { passes, did, state } = world({ o: [['a1', 'a2']] });
    state.move = (keys) => ({ again: [...keys], hasChanged: true });
    await passes.run(true);
    expect(did).toEqual(['o a: a1 a2', ...Array(19).fill('o a: a1 a2 again')]);
  });

  it('begins to count again when there are fewer, and compares values by themselves only after a change', async () => {
    const { passes, did, state } = world({ o: [['a1', 'a2']] });
    let moves = 0;
    state.move = (keys) => ({ again: ++moves === 19 ? ['a2'] : [...keys] });
    await passes.run(true);
    expect(did).toEqual([...Array(19).fill('o a: a1 a2'), ...Array(20).fill('o a: a2')]);
  });

  it('is stopped by its signal between two batches', async () => {
    const { passes, did, state } = world({ o: [['a1', 'a2', 'a3', 'a4', 'a5', 'a6']] });
    state.move = () => {
      state.controller.abort(new Error('enough'));
      return {};
    };
    await expect(passes.run(true)).rejects.toThrow('enough');
    // The second batch may be under way by then.
    expect(did).toContain('o a: a1 a2');
    expect(did).not.toContain('o a: a5 a6');
  });

  it('ends on all nodes when a batch fails, after the batches under way', async () => {
    const { passes, did, state } = world({
      o: [
        ['a1', 'a2'],
        ['a3', 'a4'],
      ],
      p: [['b1', 'b2', 'b3', 'b4', 'b5', 'b6']],
    });
    let fail = () => {};
    let go = () => {};
    state.move = ([key]) =>
      key === 'a1'
        ? new Promise((_, reject) => {
            fail = () => reject(new Error('failed'));
          })
        : new Promise((resolve) => {
            go = () => resolve({});
          });
    let error: Error | undefined;
    void passes.run(true).catch((thrown) => {
      error = thrown;
    });
    for (let i = 0; i < 20; i++) await turns();
    expect([...did].sort()).toEqual(['o a: a1 a2', 'p b: b1 b2']);
    fail();
    for (let i = 0; i < 20; i++) await turns();
    expect(error).toBeUndefined();
    go();
    for (let i = 0; i < 20; i++) await turns();
    go();
    for (let i = 0; i < 20; i++) await turns();
    expect(error?.message).toBe('failed');
    // The node that was waiting for its first batch may have begun the second, and begins no third one.
    expect(did).not.toContain('p b: b5 b6');
    expect(did).not.toContain('o a: a3 a4');
  });
});

describe('Tasks that run at the same time', () => {
  function tasks(limit: number) {
    const all = new ConcurrentTasks(limit);
    const running: { end: () => void; fail: (error: unknown) => void }[] = [];
    const start = () =>
      all.add(
        () => new Promise<void>((resolve, reject) => void running.push({ end: resolve, fail: reject })),
      );
    return { all, running, start };
  }

  it('are no more than the limit', async () => {
    const { all, running, start } = tasks(2);
    await start();
    await start();
    let isStarted = false;
    void start().then(() => {
      isStarted = true;
    });
    await turns();
    expect([running.length, isStarted]).toEqual([2, false]);
    running[0]!.end();
    await turns();
    expect([running.length, isStarted]).toEqual([3, true]);
    let isOver = false;
    void all.end().then(() => {
      isOver = true;
    });
    running[1]!.end();
    await turns();
    expect(isOver).toBe(false);
    running[2]!.end();
    await turns();
    expect(isOver).toBe(true);
    all.throwIfFailed();
  });

  it('end with the first error, also with one that is nothing', async () => {
    const { all, running, start } = tasks(3);
    await start();
    await start();
    running[1]!.fail(new Error('first'));
    await turns();
    running[0]!.fail(new Error('second'));
    await all.end();
    expect(() => all.throwIfFailed()).toThrow('first');
    await expect(start()).rejects.toThrow('first');
    expect(running).toHaveLength(2);
    const other = tasks(1);
    await other.start();
    other.running[0]!.fail(undefined);
    await other.all.end();
    expect(() => other.all.throwIfFailed()).toThrow();
  });
});
