import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { memoryStore, type NodeWait } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tellWait, warnOfWait } from '../../src/lease/node-wait.ts';
import { type LeaseSettings, leaseSettings } from '../../src/lease/options.ts';
import type { LeaseRecord } from '../../src/lease/port.ts';
import { meanwhile, setUp } from './set-up.ts';

const NOW = 1_000_000;
const birth = (fence: number): LeaseRecord => ({
  ...{ id: -1, owner: 'x', epoch: 1, fence, expiresAt: 0, label: '' },
});

describe('a wait for a node id', () => {
  let told: NodeWait[] = [];
  let published: unknown[] = [];
  const onWait = (wait: NodeWait) => void told.push(wait);
  const publish = (message: unknown) => void published.push(message);
  const settings = { namespace: 'a', label: '', onWait } as unknown as LeaseSettings;

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
    tellWait(settings, undefined, 1000, NOW);
    expect([told, published]).toEqual([[], []]);
    tellWait(settings, undefined, 1001, NOW);
    expect(told).toEqual([
      {
        ...{ namespace: 'a', ms: 1001, reason: 'fence-ahead' },
        message: 'waiting 2 s for a node id of namespace "a": the last holders were granted times ahead',
      },
    ]);
    expect(published).toStrictEqual([{ event: 'waiting', namespace: 'a', ms: 1001, reason: 'fence-ahead' }]);
  });

  it('is that of a new namespace until its date', () => {
    tellWait(settings, birth(NOW - 1), 2000, NOW);
    tellWait(settings, birth(NOW), 2000, NOW);
    tellWait(settings, birth(NOW + 1), 2000, NOW);
    expect(told.map(({ reason }) => reason)).toEqual(['fence-ahead', 'fence-ahead', 'new-namespace']);
    expect(told[2]?.message).toMatch(/^waiting 2 s for .* the namespace is new /);
  });

  it('is published with the label, if the lease has one', () => {
    tellWait({ ...settings, label: 'host 1' }, undefined, 2000, NOW);
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
    tellWait({ ...settings, onWait: throwing }, undefined, 2000, NOW);
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
    ...{ namespace: 'a', ms, reason: 'fence-ahead', message: `a wait of ${ms} ms` },
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
