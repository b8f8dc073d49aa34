import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../idsmith/src/errors.ts';
import type { Persistence } from '../../src/reshard/checks.ts';
import { DurabilityBarrier } from '../../src/reshard/key-mover.ts';
import type { NodeConnection } from '../../src/reshard/node-connection.ts';

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

describe('Copies that have to survive a crash', () => {
  type Server = { command: ReturnType<typeof vi.fn> };
  const persistence = (changes: Partial<Persistence>): Persistence => ({
    hasAof: false,
    replicas: 0,
    keepsNothing: false,
    canWaitForDisk: false,
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
