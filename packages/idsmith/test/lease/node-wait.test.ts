import { spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { NodeWait } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startRedis } from '#services';
import { meanwhile, named, setUp } from './set-up.ts';

describe('A wait for a node id', () => {
  it('of a new namespace in a store that can forget is told, with its length and the way out', async () => {
    const { time, lease } = setUp({ durable: false, maxTtl: 60_000 });
    const waits: NodeWait[] = [];
    const channel: unknown[] = [];
    const listen = (message: unknown) => channel.push(message);
    subscribe('idsmith:lease', listen);
    const held = await meanwhile(time, lease({ onWait: (wait) => waits.push(wait), label: 'host 1' }));
    unsubscribe('idsmith:lease', listen);
    expect(waits).toMatchObject([{ namespace: 'test', ms: 81_000, reason: 'new-namespace' }]);
    expect(waits[0]?.message).toMatch(
      /^waiting 81 s for a node id of namespace "test": the namespace is new .* appendfsync always.* \?durable=true/,
    );
    expect(channel[0]).toEqual({
      ...{ event: 'waiting', namespace: 'test', ms: 81_000, reason: 'new-namespace', label: 'host 1' },
    });
    await held.release();
  });

  it('for the last windows of others is told', async () => {
    const { time, store, lease } = setUp();
    const fence = time.now + 20_000;
    await store.swapLease('test', undefined, {
      id: 0,
      owner: null,
      epoch: 1,
      fence,
      expiresAt: 0,
      label: '',
    });
    const waits: NodeWait[] = [];
    await meanwhile(time, lease({ size: 1, onWait: (wait) => waits.push(wait) }));
    expect(waits).toMatchObject([{ ms: 20_000, reason: 'fence-ahead' }]);
    expect(waits[0]?.message).not.toContain('durable');
  });

  it('is not told where there is none', async () => {
    const waits: NodeWait[] = [];
    await setUp().lease({ onWait: (wait) => waits.push(wait) });
    expect(waits).toEqual([]);
  });

  it('needs a function to be told to', async () => {
    await expect(setUp().lease({ onWait: 5 as never })).rejects.toEqual(named('INVALID_OPTION'));
  });
});

await describeWith(['redis'], 'A new namespace on a Redis that can forget', () => {
  const TOLD = /waiting 8\d s for a node id of namespace .* add \?durable=true to its URL/;

  /** What a program has written to standard error when it first tells of a wait. */
  async function toldBy(args: string[]): Promise<string> {
    const program = spawn(process.execPath, args, {
      cwd: new URL('.', import.meta.url),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let told = '';
    for await (const part of program.stderr) {
      told += part;
      if (TOLD.test(told)) break;
    }
    program.kill('SIGKILL');
    return told;
  }

  it('is told by connect as a warning, by a command and by a server', async () => {
    const redis: ServerProcess = await startRedis();
    const program = `import { connect } from 'idsmith/connect';
      const ids = await connect(${JSON.stringify(redis.url)});
      await ids.flakes('orders');`;
    expect(await toldBy(['--input-type=module', '-e', program])).toMatch(TOLD);
    const bin = new URL('../../bin/idsmith.js', import.meta.url).pathname;
    expect(await toldBy([bin, 'flake', '--store', redis.url, '--namespace', 'script'])).toMatch(TOLD);
    expect(await toldBy([bin, 'serve', '--port', '0', '--tokens', 'none', '--store', redis.url])).toMatch(
      TOLD,
    );
    await redis.stop();
  });
});
