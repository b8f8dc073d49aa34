import { createHash } from 'node:crypto';
import { createServer, connect as dial, type Socket } from 'node:net';
import { pipeline, Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, type TestContext } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { itIfLong } from '../../../test/long.ts';
import { openStore } from '../../idsmith/src/stores/open.ts';
import { LIST_LEASES } from '../../idsmith/src/stores/redis/scripts.ts';
import { reportOf, sqliteUrl, verify } from './run-verify.ts';

// Every defect is found, and told in words of an operator. What `idsmith verify` does not find, it cannot be trusted with.

/** The name of the script that lists leases. */
const LISTING = createHash('sha1').update(LIST_LEASES).digest('hex');

const MODULE = fileURLToPath(new URL('./planted.mjs', import.meta.url));
/** A busy machine takes its time. */
const LONG = { timeout: 400_000 };
const SHORT = ['--minutes', '0.06', '--processes', '2', '--seed', '1'];

/** Each run waits for leases and ends of processes most of its time. */
const BESIDE_OTHERS = { concurrent: true };

async function found({ onTestFinished }: TestContext, defect: string, ...args: string[]) {
  const env = { DEFECT: defect, STORE: sqliteUrl(onTestFinished) };
  const { status, report } = await reportOf(['--store-module', MODULE, ...SHORT, ...args], env);
  expect(report.left).toEqual([]);
  return { status, report, rules: report.broken.map(({ rule }) => rule) };
}

describe('idsmith verify finds a store', BESIDE_OTHERS, () => {
  it.for([
    ['forgets', 'kept', /forgot a change that it had confirmed/],
    ['swaps blindly', 'compared', /replaced a record that was no longer the expected one/],
    ['reads a replica', 'fresh', /read returned an older state/],
    ['rounds numbers', 'exact', /a number came back changed/],
    ['has a wrong clock', 'clock', /clock/],
  ] as const)('that %s', LONG, async ([defect, rule, words], context) => {
    const { status, rules, report } = await found(context, defect);
    expect(rules).toEqual([rule]);
    expect(report.broken[0]?.broken).toMatch(words);
    expect(report.broken[0]?.lookAt).not.toBe('');
    expect(status).toBe(1);
  });

  it('that alters nothing, by the conformance suites, and lists every case', LONG, async (context) => {
    const { status, rules, report } = await found(context, 'alters nothing');
    expect(rules).toContain('behaviour');
    expect(report.figures.cases.failed).toBeGreaterThan(2);
    expect(report.broken.flatMap(({ details }) => details).join()).toContain('is altered while it is used');
    expect(status).toBe(1);
  });

  it('that fails over to a server without the last writes, while processes mint', LONG, async (context) => {
    const { status, rules, report } = await found(context, 'fails over', '--families', 'flakes');
    // Whether a read or a swap meets the older state first is a matter of moments.
    expect(rules.join(), JSON.stringify(report.broken)).toMatch(/kept|fresh/);
    expect(status).toBe(1);
  });
});

describe('idsmith verify ends, cleans up and gives a verdict on a store', BESIDE_OTHERS, () => {
  /** Runs on a planted store, and removes with --clean what the run could not. */
  async function ended(context: TestContext, defect: string) {
    const env = { DEFECT: defect, STORE: sqliteUrl(context.onTestFinished) };
    const args = ['--store-module', MODULE, ...SHORT, '--timeout', '3'];
    const { status, report } = await reportOf(args, env);
    expect([status, report.verdict]).toEqual([1, 'failed']);
    const names = async () => {
      const store = await openStore(env.STORE);
      return (await store.listSequences().finally(() => store.close())).map(({ name }) => name);
    };
    return { report, names, details: report.broken.flatMap(({ details }) => details).join(), url: env.STORE };
  }

  it('that errs while many allocate', LONG, async (context) => {
    const { report, names, details } = await ended(context, 'errs while many allocate');
    expect(details).toContain('too many at once');
    expect([report.left, await names()]).toEqual([[], ['orders']]);
  });

  itIfLong('that errs now and then, whatever it is asked', LONG, async (context) => {
    const { report, names, details } = await ended(context, 'errs now and then');
    expect(details).toContain('socket hang up');
    expect([report.left, await names()]).toEqual([[], ['orders']]);
  });

  it('that stops answering', LONG, async (context) => {
    const { report, names, details } = await ended(context, 'stops answering while many allocate');
    expect(details).toContain('allocate: no answer within 3 s');
    expect(report.notes.join()).toContain('--clean removes what they leave');
    expect([report.left, await names()]).toEqual([[], ['orders']]);
  });

  itIfLong('that stops answering processes, and never lets its own process end', LONG, async (context) => {
    const { report, names, details } = await ended(context, 'stops answering processes');
    expect(details).toMatch(/process \d: allocate: no answer within 3 s/);
    expect([report.left, await names()]).toEqual([[], ['orders']]);
  });

  itIfLong('that stops answering when names are removed, and names them', LONG, async (context) => {
    const { report, names, url } = await ended(context, 'stops answering when names are removed');
    expect(report.left.join()).toMatch(/idsmith-verify.*no answer within 5 s/);
    const left = await names();
    expect(left.length).toBeGreaterThan(1);
    for (const name of left.filter((other) => other !== 'orders'))
      expect(report.left.some((line) => line.startsWith(name)) || name.includes('namespace/'), name).toBe(
        true,
      );
    expect((await verify(['--clean', '--store', url])).status).toBe(0);
    expect(await names()).toEqual(['orders']);
  });

  itIfLong('that throws where nobody hears it', LONG, async (context) => {
    const { report, names, details } = await ended(context, 'throws where nobody hears it');
    expect(details).toContain('an error that nobody handles: lost');
    expect([report.left, await names()]).toEqual([[], ['orders']]);
  });
});

await describeWith(
  ['redis'],
  'idsmith verify finds, on a real Redis,',
  () => {
    it(
      'a key that is evicted while processes mint, and tells what to change, whatever rule the eviction broke',
      LONG,
      async ({ onTestFinished }) => {
        const server = await startRedis();
        onTestFinished(() => server.stop());
        let evicted = 0;
        // The proxy holds each listing of the namespace until the keys are evicted. So the listing lacks records, on any machine. The last
        // listing comes when all claims have been answered.
        const { port, close } = await holdingProxy(server.port, async (request) => {
          const [key] = /idsmith:lease:\{[^}]*locality\}/.exec(request) ?? [];
          const isListing = request.includes(LISTING);
          if (key === undefined || !isListing || Number(await server.command('HLEN', key)) < 1) return;
          evicted = await evictAll(server, key);
        });
        onTestFinished(close);
        const url = `redis://127.0.0.1:${port}?durable=true`;
        const { status, report } = await reportOf(['--store', url, ...SHORT, '--families', 'locality']);
        expect(evicted).toBeGreaterThan(0);
        // A record is gone, unless another process has taken the node id before its holder looks: then a swap succeeds that must not.
        const rules = report.broken.map(({ rule }) => rule);
        expect(
          rules.some((rule) => ['present', 'compared', 'unique'].includes(rule)),
          rules.join(),
        ).toBe(true);
        const hint = `keys were evicted: set maxmemory-policy noeviction (${evicted} during the run)`;
        expect(report.hints).toEqual([hint]);
        expect(status).toBe(1);
      },
    );

    it('a proxy that sends every request twice', LONG, async ({ onTestFinished }) => {
      const server = await startRedis();
      onTestFinished(() => server.stop());
      const { port, close } = await resendingProxy(server.port);
      onTestFinished(close);
      const url = server.url.replace(`:${server.port}`, `:${port}`);
      const { status, report } = await reportOf(['--store', `${url}?durable=true`, ...SHORT]);
      expect(report.broken.map(({ rule }) => rule)).toEqual(['once']);
      expect(status).toBe(1);
    });
  },
  BESIDE_OTHERS,
);

/** Makes Redis so small that it evicts everything, and large again. Gives the number of keys that were evicted. */
async function evictAll(server: RedisServer, key: string): Promise<number> {
  await server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random');
  await server.command('CONFIG', 'SET', 'maxmemory', 1);
  // Not `expect.poll`: beside other tests, it does not know the test that it belongs to.
  while ((await server.command('EXISTS', key)) !== '0') await sleep(5);
  await server.command('CONFIG', 'SET', 'maxmemory', 0);
  await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  return Number(/evicted_keys:(\d+)/.exec(await server.command('INFO', 'stats'))?.[1]);
}

/** A proxy that passes a request on when `before` has seen it. */
async function holdingProxy(
  target: number,
  before: (request: string) => Promise<void>,
): Promise<{ port: number; close: () => void }> {
  const sockets: Socket[] = [];
  let turn = Promise.resolve();
  const proxy = createServer((client) => {
    const server = dial(target, '127.0.0.1');
    sockets.push(client, server);
    const held = new Transform({
      transform(chunk: Buffer, _encoding, pass) {
        // One request after the other is looked at, whatever connection it is on.
        turn = turn.then(() => before(chunk.toString('latin1'))).then(() => pass(null, chunk), pass);
      },
    });
    pipeline(client, held, server, client, () => {});
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  const close = () => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (proxy.address() as { port: number }).port, close };
}

/**
 * A proxy with two connections to the server for each client. It sends everything over the one, then over the other, and passes
 * the answers of the first on when both are there.
 */
async function resendingProxy(target: number): Promise<{ port: number; close: () => void }> {
  const sockets: Socket[] = [];
  const proxy = createServer((client) => {
    const [first, again] = [dial(target, '127.0.0.1'), dial(target, '127.0.0.1')];
    sockets.push(client, first, again);
    const [sentOnce, answers]: [Buffer[], Buffer[]] = [[], []];
    let isSentAgain = false;
    const passOn = () => {
      for (const answer of answers.splice(0)) client.write(answer);
    };
    client.on('data', (chunk) => {
      sentOnce.push(chunk);
      first.write(chunk);
    });
    first.on('data', (answer) => {
      answers.push(answer);
      isSentAgain ||= sentOnce.length > 0;
      for (const chunk of sentOnce.splice(0)) again.write(chunk);
      if (!isSentAgain) passOn();
    });
    again.on('data', () => {
      isSentAgain = false;
      passOn();
    });
    for (const socket of [client, first, again]) {
      socket.on('error', () => {});
      socket.on('close', () => [client, first, again].forEach((each) => void each.destroy()));
    }
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  const close = () => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (proxy.address() as { port: number }).port, close };
}
