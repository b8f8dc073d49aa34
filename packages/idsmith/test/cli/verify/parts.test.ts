import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { lineText, readHistory } from '../../../src/cli/verify/history.ts';
import { ProgressBar } from '../../../src/cli/verify/progress.ts';
import { routeOf } from '../../../src/cli/verify/proxied-url.ts';
import { REQUEST_FAULTS } from '../../../src/cli/verify/request-faults.ts';
import { NETWORK_FAULTS, PROCESS_FAULTS, tracksOf } from '../../../src/cli/verify/schedule.ts';
import { findRuns, removeRun, Site } from '../../../src/cli/verify/site.ts';
import { wrapStore } from '../../../src/cli/verify/wrap-store.ts';
import type { LeaseRecord } from '../../../src/lease/port.ts';
import { memoryStore } from '../../../src/stores/memory/store.ts';

const ALL = { canStop: true, hasClock: true, hasProxy: true };

function firstOf<T>(things: Iterable<T>, count: number): T[] {
  const found: T[] = [];
  for (const thing of things) if (found.push(thing) === count) break;
  return found;
}

describe('A schedule', () => {
  it('is the same for the same seed, and has every fault in each round', () => {
    const faults = (seed: number) => firstOf(tracksOf(seed, ALL).processes, 9);
    expect(faults(5)).toEqual(faults(5));
    expect(faults(5)).not.toEqual(faults(6));
    const names = faults(5).map(({ fault }) => fault);
    expect(names.sort()).toEqual([...PROCESS_FAULTS, ...REQUEST_FAULTS].sort());
    const network = firstOf(tracksOf(5, ALL).network, 4).map(({ fault }) => fault);
    expect(network.sort()).toEqual([...NETWORK_FAULTS].sort());
  });

  it('has no fault that is not possible, and one clock ahead where no clock is compared', () => {
    expect(firstOf(tracksOf(5, { ...ALL, hasProxy: false }).network, 4)).toEqual([]);
    const names = firstOf(tracksOf(5, { ...ALL, canStop: false, hasClock: false }).processes, 100);
    expect(names.filter(({ fault }) => fault.startsWith('stopped'))).toEqual([]);
    expect(names.filter(({ fault }) => fault === 'clock an hour ahead')).toHaveLength(1);
  });
});

describe('The way through proxies', () => {
  const through = (url: string) => routeOf(url)?.through([{ host: '127.0.0.1', port: 9 }]);

  it('keeps everything of the URL but the address', () => {
    expect(through('redis://u:p%40@h:1/2?maxTtl=4000')).toBe('redis://u:p%40@127.0.0.1:9/2?maxTtl=4000');
    expect(through('postgres://u:p@h/db')).toBe('postgres://u:p@127.0.0.1:9/db');
    expect(through('http://t@h:7600')).toBe('http://t@127.0.0.1:9/');
    expect(through('dynamodb://r/t?endpoint=http://h:8000&hashKey=k')).toBe(
      'dynamodb://r/t?endpoint=http%3A%2F%2F127.0.0.1%3A9%2F&hashKey=k',
    );
    expect(routeOf('mysql://u@[::1]/db')?.places).toEqual([{ host: '::1', port: 3306 }]);
    const etcd = routeOf('etcd://a:1,b?prefix=x/');
    expect(etcd?.places).toEqual([
      { host: 'a', port: 1 },
      { host: 'b', port: 2379 },
    ]);
    expect(
      etcd?.through([
        { host: 'c', port: 2 },
        { host: 'd', port: 3 },
      ]),
    ).toBe('etcd://c:2,d:3?prefix=x/');
  });

  it.each([
    ...['sqlite:./ids.db', 'rediss://h', 'https://h', 'etcd://h?tls=true', 'dynamodb://eu-west-1/t'],
    ...['postgres://h/db?sslmode=require', 'postgres:///db?host=/run/postgresql'],
  ])('is not there for %s', (url) => expect(routeOf(url)).toBeUndefined());
});

describe('The names of a run', () => {
  const record: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 5, expiresAt: 5, label: '' };

  it('are found in the store by anybody, and removed with nothing else', async () => {
    const store = memoryStore();
    await store.defineSequence({ name: 'orders' });
    await store.swapLease('orders', undefined, record);
    const site = new Site(store, 1000);
    const odd = `${site.base}it's {odd}% ü`;
    await site.noting.swapLease(odd, undefined, record);
    await store.defineSequence({ name: `${site.base}sequence` });
    expect(await findRuns(store, Date.now())).toEqual({ over: [], active: [site.base] });
    expect(await findRuns(store, Date.now() + 3_700_000)).toEqual({ over: [site.base], active: [] });
    // As a later run does it, which knows the store alone.
    expect(await removeRun(store, site.base)).toEqual([]);
    expect(await store.listLeases(odd)).toEqual([]);
    expect((await store.listSequences()).map(({ name }) => name)).toEqual(['orders']);
    expect(await store.listLeases('orders')).toEqual([record]);
  });

  it('are named if they cannot be removed, and can be found again', async () => {
    const store = memoryStore();
    const site = new Site({ ...store, removeTrial: undefined as never }, 1000);
    const namespace = `${site.base}a`;
    await site.noting.swapLease(namespace, undefined, record);
    expect(await site.remove()).toEqual([namespace]);
    expect(await removeRun(store, site.base)).toEqual([]);
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
    const lines = [
      lineText({ call: 0, name: 'allocate', args: ['s', 1], at: 1 }),
      lineText({ end: 0, ended: 2, result: { first: 2n ** 60n, step: 1, count: 1 } }),
      lineText({ call: 1, name: 'now', args: [], at: 3 }),
      '{"end":1,"end',
    ];
    const { calls } = readHistory(new Map([['p', lines.join('')]]));
    expect(calls).toEqual([
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
    const proxy = fileURLToPath(new URL('../../../dist/cli/verify/proxy.js', import.meta.url));
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

describe('The progress bar', () => {
  it('is drawn on a terminal within its width, and nowhere else', () => {
    const shown: string[] = [];
    const screen = { isTTY: true, columns: 40, write: (text: string) => void shown.push(text) };
    const bar = new ProgressBar(screen);
    bar.show(0.5, 'a text that is longer than the terminal is wide');
    bar.end();
    expect(shown[0]).toBe('\r\u001B[2K[############------------] a text that ');
    expect(shown[1]).toBe('\r\u001B[2K');
    const pipe = new ProgressBar({ write: () => expect.unreachable() });
    pipe.show(1, 'done');
    pipe.end();
  });
});
