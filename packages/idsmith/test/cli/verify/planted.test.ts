import { createServer, connect as dial, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createClient } from 'redis';
import { describe, expect, it, type TestContext } from 'vitest';
import { describeWith, startRedis } from '#services';
import { reportOf, sqliteUrl } from './run-verify.ts';

// Every defect is found, and told in words of an operator. What `idsmith verify` does not find, it cannot be trusted with.

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
    expect(rules, JSON.stringify(report.broken)).toContain('kept');
    expect(status).toBe(1);
  });
});

await describeWith(
  ['redis'],
  'idsmith verify finds, on a real Redis,',
  () => {
    it('a key that is evicted while processes mint', LONG, async ({ onTestFinished }) => {
      const server = await startRedis();
      onTestFinished(() => server.stop());
      const client = await createClient({ url: server.url }).connect();
      onTestFinished(() => void client.destroy());
      const running = reportOf(['--store', `${server.url}?durable=true`, ...SHORT, '--families', 'locality']);
      const evicted = evictOnce(client);
      const { status, report } = await running;
      expect(await evicted).toBe(true);
      // Somebody finds the record gone, unless another process has taken the node id before: then a swap succeeds that must not.
      const rules = report.broken.map(({ rule }) => rule);
      expect(rules.some((rule) => ['present', 'compared', 'unique'].includes(rule))).toBe(true);
      if (rules.includes('present'))
        expect(report.broken.map(({ lookAt }) => lookAt).join()).toContain('noeviction');
      expect(status).toBe(1);
    });

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

/** Removes the namespace of locality UUIDs once a process has a lease there, as a Redis that is full does. */
async function evictOnce(client: {
  keys(pattern: string): Promise<string[]>;
  hLen(key: string): Promise<number>;
  del(key: string): Promise<number>;
}): Promise<boolean> {
  for (let tries = 0; tries < 3000; tries++) {
    const [key] = await client.keys('idsmith:lease:*locality*');
    if (key !== undefined && (await client.hLen(key)) > 1) return (await client.del(key)) === 1;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
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
