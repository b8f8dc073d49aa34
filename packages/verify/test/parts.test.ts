import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import type { LeaseRecord } from '../../idsmith/src/lease/port.ts';
import { memoryStore } from '../../idsmith/src/stores/memory/store.ts';
import { CLOCK_AHEAD, PROCESS_FAULTS, processFaults, runTrack, stepsOf } from '../src/faults.ts';
import { callLines, readCalls, readRecords, recordBytes, wrapStore } from '../src/history/history.ts';
import { findRuns, removeRun, TrialNames } from '../src/runs/verify/trial-names.ts';
import { routeOf } from '../src/target.ts';
import { REQUEST_FAULTS } from '../src/workers/task.ts';

function firstOf<T>(things: Iterable<T>, count: number): T[] {
  const found: T[] = [];
  for (const thing of things) if (found.push(thing) === count) break;
  return found;
}

describe('A schedule', () => {
  const ALL = processFaults(true);

  it('is the same for the same seed, and has every fault in each round', () => {
    const faults = (seed: number) => firstOf(stepsOf(seed, ALL), ALL.length);
    expect(faults(5)).toEqual(faults(5));
    expect(faults(5)).not.toEqual(faults(6));
    const names = faults(5).map(({ fault }) => fault);
    expect(names.sort()).toEqual([...PROCESS_FAULTS, ...REQUEST_FAULTS].sort());
    expect([...stepsOf(5, [])]).toEqual([]);
  });

  it('has some faults once, and none that is not possible', () => {
    const steps = firstOf(stepsOf(5, processFaults(false), [CLOCK_AHEAD]), 100);
    expect(steps.filter(({ fault }) => fault.startsWith('stopped'))).toEqual([]);
    expect(steps.filter(({ fault }) => fault === CLOCK_AHEAD)).toHaveLength(1);
  });

  it('is followed until the time is over, with every fault counted', async () => {
    const [seen, counts]: [string[], Map<string, number>] = [[], new Map()];
    const apply = async ({ fault }: { fault: string }) => void seen.push(fault);
    const isOver = (done: number) => done === 5;
    await runTrack(stepsOf(5, ['a', 'b']), apply, { pause: [0, 1], counts, isOver });
    expect(seen).toHaveLength(5);
    expect((counts.get('a') as number) + (counts.get('b') as number)).toBe(5);
    const signal = AbortSignal.abort(new Error('over'));
    const stopped = runTrack(stepsOf(5, ['a']), apply, { pause: [0, 1], counts, isOver, signal });
    await expect(stopped).rejects.toThrow('over');
  });
});

describe('The way through proxies', () => {
  const through = async (url: string) => (await routeOf(url))?.through([{ host: '127.0.0.1', port: 9 }]).url;

  it('keeps everything of the URL but the address', async () => {
    expect(await through('redis://u:p%40@h:1/2?maxTtl=4000')).toBe(
      'redis://u:p%40@127.0.0.1:9/2?maxTtl=4000',
    );
    expect(await through('postgres://u:p@h/db')).toBe('postgres://u:p@127.0.0.1:9/db');
    expect(await through('http://t@h:7600')).toBe('http://t@127.0.0.1:9/');
    expect(await through('dynamodb://r/t?endpoint=http://h:8000&hashKey=k')).toBe(
      'dynamodb://r/t?endpoint=http%3A%2F%2F127.0.0.1%3A9%2F&hashKey=k',
    );
    expect((await routeOf('mysql://u@[::1]/db'))?.places).toEqual([{ host: '::1', port: 3306 }]);
    const etcd = await routeOf('etcd://a:1,b?prefix=x/');
    expect(etcd?.places).toEqual([
      { host: 'a', port: 1 },
      { host: 'b', port: 2379 },
    ]);
    expect(
      etcd?.through([
        { host: 'c', port: 2 },
        { host: 'd', port: 3 },
      ]).url,
    ).toBe('etcd://c:2,d:3?prefix=x/');
  });

  it.each([
    'sqlite:./ids.db',
    'rediss://h',
    'rediss+cluster://h:1,h:2',
    'rediss+sentinel://h/m',
    'https://h',
    'etcd://h?tls=true',
    'dynamodb://eu-west-1/t',
    'postgres://h/db?sslmode=require',
    'postgres:///db?host=/run/postgresql',
  ])('is not there for %s', async (url) => expect(await routeOf(url)).toBeUndefined());
});

describe('The names of a run', () => {
  const record: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 5, expiresAt: 5, label: '' };

  it('are found in the store by anybody, and removed with nothing else', async () => {
    const store = memoryStore();
    await store.defineSequence({ name: 'orders' });
    await store.swapLease('orders', undefined, record);
    const names = new TrialNames(store, 1000);
    const odd = `${names.base}it's {odd}% ü`;
    await names.noting.swapLease(odd, undefined, record);
    await store.defineSequence({ name: `${names.base}sequence` });
    expect(await findRuns(store, Date.now())).toEqual({ over: [], active: [names.base] });
    expect(await findRuns(store, Date.now() + 3_700_000)).toEqual({ over: [names.base], active: [] });
    // As a later run does it, which knows the store alone.
    expect(await removeRun(store, names.base)).toEqual([]);
    expect(await store.listLeases(odd)).toEqual([]);
    expect((await store.listSequences()).map(({ name }) => name)).toEqual(['orders']);
    expect(await store.listLeases('orders')).toEqual([record]);
  });

  it('are named if they cannot be removed, and can be found again', async () => {
    const store = memoryStore();
    const names = new TrialNames({ ...store, removeTrial: undefined as never }, 1000);
    const namespace = `${names.base}a`;
    await names.noting.swapLease(namespace, undefined, record);
    expect(await names.remove()).toEqual([namespace]);
    expect(await removeRun(store, names.base)).toEqual([]);
    expect(await store.listSequences()).toEqual([]);
  });

  it('are the only ones that a store removes', async () => {
    await expect(memoryStore().removeTrial?.('orders')).rejects.toThrow(
      /"orders" is not one of idsmith verify/,
    );
  });
});

describe('A history', () => {
  it('survives a process that was killed in the middle of a line', () => {
    let text = '';
    const log = callLines((line) => {
      text += line;
    });
    log({ name: 'allocate', args: ['s', 1], at: 1 })({
      ended: 2,
      result: { first: 2n ** 60n, step: 1, count: 1 },
    });
    log({ name: 'now', args: [], at: 3 });
    expect(readCalls('p', `${text}{"end":1,"end`)).toEqual([
      {
        by: 'p',
        name: 'allocate',
        args: ['s', 1],
        at: 1,
        ended: 2,
        result: { first: String(2n ** 60n), step: 1, count: 1 },
      },
      { by: 'p', name: 'now', args: [], at: 3 },
    ]);
  });

  it('has every id, even of a process that was killed in the middle of a record', () => {
    const bytes = recordBytes('locality', 300, [2n ** 127n, 1n], true, 1500.4);
    const [first, second] = [...readRecords(bytes)];
    expect(first).toEqual({ family: 'locality', source: 300, id: 2n ** 127n, isFirst: true, waited: 1500 });
    expect(second).toEqual({ family: 'locality', source: 300, id: 1n, isFirst: false, waited: 0 });
    expect([...readRecords(bytes.subarray(0, 40))]).toEqual([first]);
  });
});

describe('A wrapped store', () => {
  it('may be an object of a class with private members', async () => {
    class Own {
      readonly #time = 5;
      async now() {
        return this.#time;
      }
    }
    const seen: string[] = [];
    const store = wrapStore(new Own() as never, async (name, _args, call) => {
      seen.push(name);
      return call();
    });
    expect(await store.now?.()).toBe(5);
    expect(seen).toEqual(['now']);
  });
});

describe('A connection that is reset', () => {
  it('does not keep its process, even if it was ended a moment before', () => {
    const source = fileURLToPath(new URL('../src/proxy/faulty-proxy.ts', import.meta.url));
    const { outputFiles } = buildSync({
      entryPoints: [source],
      bundle: true,
      platform: 'node',
      format: 'esm',
      write: false,
    });
    const proxy = `data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? '').toString('base64')}`;
    const script = `
      import { createServer, connect } from 'node:net';
      import { resetSocket } from ${JSON.stringify(proxy)};
      const server = createServer({ allowHalfOpen: true }, (peer) => peer.on('error', () => {}));
      server.listen(0, '127.0.0.1', () => {
        const socket = connect({ port: server.address().port, host: '127.0.0.1', allowHalfOpen: true }, () => {
          socket.end();
          resetSocket(socket);
          server.close();
          process.exitCode = 7;
        });
      });`;
    const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 30_000,
    });
    expect(status).toBe(7);
  });
});
