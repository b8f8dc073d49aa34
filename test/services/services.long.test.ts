import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { speakers } from './hello.ts';
import { describeWith, type ServerProcess, startPostgres, startRedis } from './index.ts';
import { isRunning, processTree } from './process-tree.mjs';

const SILENCE = 'silence';

/** What a promise resolves with, or `SILENCE` if it has not after a moment. */
function heard<T>(answer: Promise<T>): Promise<T | string> {
  return Promise.race([answer, sleep(250, SILENCE)]);
}

for (const { service, start, write, read } of Object.values(speakers)) {
  await describeWith([service], `A private ${service}`, () => {
    let server: ServerProcess;

    beforeAll(async () => {
      server = await start();
    });

    afterAll(() => server?.stop());

    it('reads back what was written', async () => {
      await write(server.url, 'hello', 'world');
      expect(await read(server.url, 'hello')).toBe('world');
    });

    it('keeps its port and data through a restart', async () => {
      const { pid, port } = server;
      await write(server.url, 'restart', 'kept');
      await server.restart();
      expect(server.pid).not.toBe(pid);
      expect(server.port).toBe(port);
      expect(await read(server.url, 'restart')).toBe('kept');
    });

    it('keeps its data when it is killed and started again', async () => {
      await write(server.url, 'kill', 'kept');
      const pids = processTree(server.pid!);
      await server.kill();
      expect(server.pid).toBeUndefined();
      expect(pids.filter(isRunning)).toEqual([]);
      await server.restart();
      expect(await read(server.url, 'kill')).toBe('kept');
    });

    it('is silent while it is paused and answers after it is resumed', async () => {
      await write(server.url, 'pause', 'late');
      server.pause();
      const answer = read(server.url, 'pause');
      expect(await heard(answer)).toBe(SILENCE);
      server.resume();
      expect(await answer).toBe('late');
    });

    it('runs beside others of its kind, and leaves neither process nor folder when stopped', async () => {
      const [one, two] = await Promise.all([start(), start()]);
      await write(one.url, 'who', 'one');
      await write(two.url, 'who', 'two');
      expect(await read(one.url, 'who')).toBe('one');
      expect(await read(two.url, 'who')).toBe('two');
      const pids = [one, two].flatMap(({ pid }) => processTree(pid!));
      // A paused server has to be able to stop, too.
      two.pause();
      await Promise.all([one.stop(), two.stop()]);
      expect(pids.filter(isRunning)).toEqual([]);
      expect([one, two].filter(({ dir }) => existsSync(dir))).toEqual([]);
    });
  });
}

await describeWith(['redis'], 'The memory of a private redis', () => {
  const { write, read } = speakers.redis;

  it('is lost in a restart that asks for an empty one', async () => {
    const redis = await startRedis({ persistence: 'aof' });
    await write(redis.url, 'key', 'value');
    await redis.restart({ empty: true });
    expect(await read(redis.url, 'key')).toBeNull();
    await redis.stop();
  });

  it('does not outlive a restart unless told to', async () => {
    const redis = await startRedis();
    await write(redis.url, 'key', 'value');
    await redis.restart();
    expect(await read(redis.url, 'key')).toBeNull();
    await redis.stop();
  });
});

await describeWith(['postgres'], 'A private postgres with sessions', () => {
  it('freezes the sessions that are already open, although they are processes of their own', async () => {
    const server = await startPostgres();
    const client = new Client({ connectionString: server.url });
    await client.connect();
    server.pause();
    const answer = client.query('SELECT 1');
    expect(await heard(answer)).toBe(SILENCE);
    server.resume();
    expect((await answer).rowCount).toBe(1);
    await client.end();
    await server.stop();
  });

  it.skipIf(!existsSync('/proc/sysvipc/shm'))('leaves no shared memory behind after a kill', async () => {
    const server = await startPostgres();
    const pid = String(server.pid);
    // The fifth column is the process that made the segment. Sizes and times in the others may be the same number.
    const segments = () =>
      readFileSync('/proc/sysvipc/shm', 'utf8')
        .split('\n')
        .filter((line) => line.trim().split(/\s+/)[4] === pid);
    expect(segments()).toHaveLength(1);
    await server.kill();
    await server.stop();
    expect(segments()).toEqual([]);
  });
});
