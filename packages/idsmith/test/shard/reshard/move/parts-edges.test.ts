import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InvalidOptionError, StoreError } from '../../../../src/errors.ts';
import type { ReshardContext } from '../../../../src/shard/reshard/context.ts';
import { ConcurrentTasks } from '../../../../src/shard/reshard/move/concurrent-tasks.ts';
import { DurabilityBarrier } from '../../../../src/shard/reshard/move/durability-barrier.ts';
import { type MoveOptions, readMoveOptions } from '../../../../src/shard/reshard/move/move-options.ts';
import { RateLimit } from '../../../../src/shard/reshard/move/rate-limit.ts';
import type { NodeConnection } from '../../../../src/shard/reshard/node-connection.ts';
import type { Persistence } from '../../../../src/shard/reshard/plan/persistence.ts';

const turns = async () => {
  for (let i = 0; i < 20; i++) await null;
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  vi.advanceTimersByTime(10_000);
});
afterEach(() => {
  vi.useRealTimers();
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

describe('A limit of the rate', () => {
  it('lets keys pass at that rate, after a tenth of a second that may be caught up on', async () => {
    const limit = new RateLimit(1000);
    const passed: number[] = [];
    const began = performance.now();
    const done = (async () => {
      for (let i = 0; i < 6; i++) {
        await limit.wait(50);
        passed.push(performance.now() - began);
      }
    })();
    await vi.advanceTimersByTimeAsync(500);
    await done;
    expect(passed).toEqual([0, 0, 0, 50, 100, 150]);
  });

  it('is none if it is infinite', async () => {
    const limit = new RateLimit(Number.POSITIVE_INFINITY);
    for (let i = 0; i < 3; i++) await limit.wait(1e9);
    expect(limit.largestBatch).toBe(Number.POSITIVE_INFINITY);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    [1, 1],
    [10, 1],
    [11, 2],
    [5000, 500],
    [5001, 501],
  ])('of %d keys a second has batches of at most %d', (rate, batch) => {
    expect(new RateLimit(rate).largestBatch).toBe(batch);
  });
});

describe('The options of a move', () => {
  const node = { address: 'a:1', node: { ringName: 'a' } };
  const context = () =>
    ({
      ...{ sources: new Map([['a:1', node]]), targets: new Map(), gone: new Set(), givingNodes: [node] },
      isReversed: false,
    }) as unknown as ReshardContext;
  const read = (options: MoveOptions) => readMoveOptions(context(), options);

  it('have defaults', () => {
    const { rateLimit, ...rest } = read({});
    expect(rateLimit.largestBatch).toBe(Number.POSITIVE_INFINITY);
    expect(rest).toEqual({
      ...{ batch: 500, onProgress: undefined, signal: undefined, acceptOlder: [], afterStep: undefined },
    });
  });

  it('are taken as they are, with batches that keep to the rate', () => {
    const options = { onProgress() {}, afterStep() {}, signal: new AbortController().signal };
    expect(read({ ...options, batch: 10_000, acceptOlder: ['a'] })).toMatchObject({
      ...options,
      ...{ batch: 10_000, acceptOlder: ['a:1'] },
    });
    expect(read({ batch: 1, rate: 100_000 }).batch).toBe(1);
    expect(read({ batch: 600, rate: 300 }).batch).toBe(30);
    expect(read({ rate: Number.POSITIVE_INFINITY }).batch).toBe(500);
    expect(read({ rate: 0.5 }).batch).toBe(1);
  });

  it.each([
    { batch: 0 },
    { batch: 10_001 },
    { rate: 0 },
    { rate: -1 },
    { rate: '5' },
    { rate: null },
    { onProgress: 5 },
  ])('are refused: %o', (options) => {
    expect(() => read(options as unknown as MoveOptions)).toThrow(InvalidOptionError);
  });

  it('give nodes up', () => {
    const given = context();
    const other = { address: 'b:1', node: { ringName: 'b' } };
    (given.sources as Map<string, unknown>).set('b:1', other);
    readMoveOptions(given, { gone: ['b'] });
    expect([...given.gone]).toEqual(['b:1']);
  });
});

describe('Copies that have to survive a crash', () => {
  type Server = { command: ReturnType<typeof vi.fn> };
  const persistence = (changes: Partial<Persistence>): Persistence => ({
    ...{ hasAof: false, replicas: 0, keepsNothing: false, canWaitForDisk: false },
    ...changes,
  });

  function target(reply: unknown = [1, 0]) {
    const servers: Server[] = [7, 8].map((id) => ({
      command: vi.fn(async (_: string, name: string) => (name === 'CLIENT' ? id : reply)),
    }));
    const connection = { address: 'a:1', servers: async () => servers } as unknown as NodeConnection;
    const asked = () =>
      servers.map(({ command }) => command.mock.calls.map((args) => args.slice(1).join(' ')));
    return { connection, servers, asked };
  }
  const barrier = (changes?: Partial<Persistence>, timeout?: number) =>
    new DurabilityBarrier(new Map(changes ? [['a:1', persistence(changes)]] : []), timeout);

  it.each([
    ['nobody knows anything', undefined],
    ['the file cannot be waited for', { hasAof: true, replicas: 1 }],
    ['there is neither a file nor a replica', { canWaitForDisk: true }],
  ])('are not waited for where %s', async (_, changes) => {
    const { connection, asked } = target();
    const one = barrier(changes);
    expect([await one.connections(connection), await one.wait(connection)]).toEqual(['', '']);
    expect(asked()).toEqual([[], []]);
    expect(one.concurrency).toBe(6);
  });

  it('are waited for on every disk', async () => {
    const { connection, asked } = target([1, 0]);
    const one = barrier({ hasAof: true, canWaitForDisk: true });
    expect(one.concurrency).toBe(32);
    expect(await one.connections(connection)).toBe('7 8');
    expect(await one.wait(connection)).toBe('7 8');
    const [id, wait] = ['CLIENT ID', 'WAITAOF 1 0 10000'];
    expect(asked()).toEqual([
      [id, wait, id],
      [id, wait, id],
    ]);
  });

  it('are waited for at a replica', async () => {
    const { connection, asked } = target(1);
    const one = barrier({ replicas: 1 }, 55);
    await one.wait(connection);
    expect(asked()[0]).toEqual(['WAIT 1 55', 'CLIENT ID']);
    expect(one.concurrency).toBe(6);
  });

  it.each([[0], [[0, 1]]])('are not safe after the answer %o of one server', async (reply) => {
    const { connection, servers } = target(1);
    servers[1]!.command.mockResolvedValue(reply);
    const error = await barrier({ replicas: 1 }, 55)
      .wait(connection)
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain('node a:1: making keys durable failed: WAIT had no success within 55 ms');
  });

  it('share the next wait, which begins after the one under way, also if that fails', async () => {
    const { connection, servers } = target();
    const answers: ((reply: unknown) => void)[] = [];
    for (const { command } of servers)
      command.mockImplementation((_: string, name: string) =>
        name === 'CLIENT' ? Promise.resolve(1) : new Promise((resolve) => void answers.push(resolve)),
      );
    const one = barrier({ replicas: 1 });
    const first = one.wait(connection).catch((error) => error);
    await turns();
    const [second, third] = [one.wait(connection), one.wait(connection)];
    expect(third).toBe(second);
    await turns();
    expect(answers).toHaveLength(2);
    for (const answer of answers.splice(0)) answer(0);
    expect(await first).toBeInstanceOf(StoreError);
    await turns();
    expect(answers).toHaveLength(2);
    for (const answer of answers.splice(0)) answer(1);
    expect(await second).toBe('1 1');
    void one.wait(connection);
    await turns();
    expect(answers).toHaveLength(2);
  });
});
