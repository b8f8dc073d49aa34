import { spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { NodeWait } from 'idsmith';
import { memoryStore } from 'idsmith';
import { connect } from 'idsmith/connect';
import { FakeTime } from 'idsmith/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { describeWith, type ServerProcess, startRedis } from '#services';
import { announceWait, warnOfWait } from '../../src/lease/node-wait.ts';
import { type LeaseSettings, leaseSettings } from '../../src/lease/options.ts';
import type { LeaseRecord } from '../../src/lease/port.ts';
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
      /^waiting 81 s for a node id of namespace "test": the store can lose its data.* idsmith init --store URL/,
    );
    expect(channel[0]).toEqual({
      event: 'waiting',
      namespace: 'test',
      ms: 81_000,
      reason: 'new-namespace',
      label: 'host 1',
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
  const REFUSED = /no lease yet.*npx idsmith init --store/;
  const TOLD = /waiting \d\d s for a node id of namespace .* idsmith init --store URL/;

  /** What a program has written to standard error when it has first written `pattern`. */
  async function toldBy(args: string[], pattern: RegExp): Promise<string> {
    const program = spawn(process.execPath, args, {
      cwd: new URL('.', import.meta.url),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let told = '';
    for await (const part of program.stderr) {
      told += part;
      if (pattern.test(told)) break;
    }
    program.kill('SIGKILL');
    return told;
  }

  it('is reported by a command and by a server, and refused by connect', async () => {
    const redis: ServerProcess = await startRedis();
    const ids = await connect(redis.url);
    await expect(ids.flakes('orders')).rejects.toThrow(`npx idsmith init --store ${redis.url}`);
    await ids.close();
    const bin = new URL('../../bin/idsmith.js', import.meta.url).pathname;
    const flake = [bin, 'flake', '--store', redis.url, '--namespace', 'script'];
    expect(await toldBy(flake, TOLD)).toMatch(TOLD);
    // It serves what needs no lease, and asks again until somebody has run the command.
    const serve = [bin, 'serve', '--port', '0', '--tokens', 'none', '--store', redis.url];
    expect(await toldBy(serve, REFUSED)).toMatch(REFUSED);
    await redis.stop();
  });
});

const NOW = 1_000_000;

const birth = (fence: number): LeaseRecord => ({
  id: -1,
  owner: 'x',
  epoch: 1,
  fence,
  expiresAt: 0,
  label: '',
});

/** A namespace with one of two node ids held. */
const view = (birth?: LeaseRecord) => ({ birth, now: NOW, taken: 1 });

describe('a wait for a node id', () => {
  let told: NodeWait[] = [];
  let published: unknown[] = [];
  const onWait = (wait: NodeWait) => void told.push(wait);
  const publish = (message: unknown) => void published.push(message);
  const settings = {
    namespace: 'a',
    label: '',
    size: 2,
    onWait,
    store: { durable: false },
  } as unknown as LeaseSettings;

  beforeEach(() => {
    told = [];
    published = [];
    subscribe('idsmith:lease', publish);
  });
  afterEach(() => {
    unsubscribe('idsmith:lease', publish);
    vi.restoreAllMocks();
  });

  it('is told if it is longer than a second', () => {
    announceWait(settings, 1000, view());
    expect([told, published]).toEqual([[], []]);
    announceWait(settings, 1001, view());
    expect(told).toEqual([
      {
        namespace: 'a',
        ms: 1001,
        reason: 'fence-ahead',
        explanation: 'the last holders were granted times ahead',
        taken: 1,
        size: 2,
        message: 'waiting 2 s for a node id of namespace "a": the last holders were granted times ahead',
      },
    ]);
    expect(published).toStrictEqual([{ event: 'waiting', namespace: 'a', ms: 1001, reason: 'fence-ahead' }]);
  });

  it('is that of a new namespace until its date', () => {
    announceWait(settings, 2000, view(birth(NOW - 1)));
    announceWait(settings, 2000, view(birth(NOW)));
    announceWait(settings, 2000, view(birth(NOW + 1)));
    expect(told.map(({ reason }) => reason)).toEqual(['fence-ahead', 'fence-ahead', 'new-namespace']);
    expect(told[2]?.message).toMatch(/^waiting 2 s for .* the store can lose its data/);
  });

  it('is published with the label, if the lease has one', () => {
    announceWait({ ...settings, label: 'host 1' }, 2000, view());
    expect(published).toStrictEqual([
      { event: 'waiting', namespace: 'a', ms: 2000, reason: 'fence-ahead', label: 'host 1' },
    ]);
  });

  it('goes on if the one who is told throws, and the error surfaces', () => {
    const later: (() => void)[] = [];
    vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((fn) => void later.push(fn));
    const error = new Error('of a listener');
    const throwing = () => {
      throw error;
    };
    announceWait({ ...settings, onWait: throwing }, 2000, view());
    expect(later).toHaveLength(1);
    expect(() => later[0]?.()).toThrow(error);
  });

  it('is told by an acquisition, once, before the wait begins', async () => {
    const { time, store, lease } = setUp();
    const record = { ...birth(time.now + 20_000), id: 0, owner: null };
    await store.swapLease('test', undefined, record);
    const at: number[] = [];
    const begin = time.now;
    await meanwhile(time, lease({ size: 1, onWait: ({ ms }) => at.push(time.now - begin, ms) }));
    expect(at).toEqual([0, 20_000]);
  });
});

describe('the operator', () => {
  const of = (ms: number): NodeWait => ({
    namespace: 'a',
    ms,
    reason: 'fence-ahead',
    explanation: 'why',
    message: `a wait of ${ms} ms`,
    taken: 0,
    size: 1,
  });
  const settingsOf = (options: object) =>
    leaseSettings(memoryStore(), { namespace: 'a', size: 3, ...options });

  it('is warned of waits of three seconds or more', async () => {
    const warnings: unknown[] = [];
    const listen = ({ message, code }: Error & { code?: string }) => void warnings.push([code, message]);
    process.on('warning', listen);
    // Warnings come in the order of the calls. The last one tells that all have come.
    const last = new Promise<void>((resolve) =>
      process.on('warning', function done({ message }) {
        if (message !== of(3001).message) return;
        process.off('warning', done);
        resolve();
      }),
    );
    for (const ms of [2999, 3000, 3001]) warnOfWait(of(ms));
    await last;
    process.off('warning', listen);
    expect(warnings).toEqual([3000, 3001].map((ms) => ['LEASE_WAIT', of(ms).message]));
  });

  it('is warned where nobody else listens, and the time is not simulated', () => {
    const onWait = () => undefined;
    const timer = new FakeTime();
    expect(settingsOf({}).onWait).toBe(warnOfWait);
    expect(settingsOf({ onWait }).onWait).toBe(onWait);
    expect(settingsOf({ onWait, timer }).onWait).toBe(onWait);
    expect(settingsOf({ timer }).onWait).not.toBe(warnOfWait);
    expect(settingsOf({ timer }).onWait(of(5000))).toBeUndefined();
  });

  it('is told by functions only', () => {
    for (const onWait of [5, null, 'warn'])
      expect(() => settingsOf({ onWait })).toThrow('onWait must be a function');
  });
});
