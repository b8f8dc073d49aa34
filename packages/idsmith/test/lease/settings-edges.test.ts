import { InvalidOptionError, type LeaseRecord, type LeaseStore, memoryStore } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { longestTtl, rememberLimit, requireTtl } from '../../src/lease/limit.ts';
import { requireNamespace, requireTrial } from '../../src/lease/namespace.ts';
import { type LeaseSettings, leaseSettings, requireLabel } from '../../src/lease/options.ts';
import { pageOf } from '../../src/lease/pages.ts';
import { undatedBirth } from '../../src/lease/protocol.ts';
import { requireRoom } from '../../src/lease/window.ts';

const DAY = 86_400_000;
const settingsOf = (options: object, store: Partial<LeaseStore> = {}) =>
  leaseSettings({ ...memoryStore(), ...store } as LeaseStore, { namespace: 'a', size: 3, ...options });
const LONE = '\ud800';

describe('the options of a lease', () => {
  it('have defaults', () => {
    expect(settingsOf({})).toMatchObject({
      ...{ namespace: 'a', size: 3, ttl: 30_000, maxSkew: 10_000, maxIdle: 366 * DAY, maxTtl: 60_000 },
      ...{ waitFor: undefined, layout: undefined, reacquire: true, clock: systemClock },
    });
    const layout = { nodes: 8, fingerprint: 'f' };
    expect(settingsOf({ layout, size: undefined })).toMatchObject({ size: 8, layout: 'f' });
    expect(settingsOf({ reacquire: false, label: '' })).toMatchObject({ reacquire: false, label: '' });
    expect(settingsOf({}, { maxTtl: 5000 }).maxTtl).toBe(5000);
  });

  it.each<object>([
    { ttl: 100 },
    { ttl: DAY },
    { maxSkew: 0 },
    { maxSkew: DAY },
    { size: 1 },
    { size: 2 ** 32 },
    { size: 8, layout: { nodes: 8, fingerprint: 'f' } },
    { maxIdle: 1 },
    { maxIdle: Number.MAX_SAFE_INTEGER },
    { waitFor: 0 },
    { waitFor: 3 * DAY },
    { label: 'x'.repeat(255) },
    { namespace: 'x'.repeat(255) },
  ])('may be %o', (options) => {
    const { layout: _, ...plain } = options as { layout?: unknown };
    expect(settingsOf(options)).toMatchObject(plain);
  });

  it.each<object>([
    { ttl: 99 },
    { ttl: DAY + 1 },
    { ttl: null },
    { maxSkew: -1 },
    { maxSkew: DAY + 1 },
    { size: 0 },
    { size: 2 ** 32 + 1 },
    { size: 9, layout: { nodes: 8, fingerprint: 'f' } },
    { size: undefined },
    { layout: { nodes: 8 } },
    { layout: null },
    { maxIdle: 0 },
    { waitFor: -1 },
    { waitFor: 3 * DAY + 1 },
    { waitFor: null },
    { reacquire: 'yes' },
    { label: 'x'.repeat(256) },
    { namespace: '' },
    { namespace: 'x'.repeat(256) },
    { clock: {} },
    { timer: {} },
    { random: {} },
    { lable: 'x' },
  ])('may not be %o', (options) => {
    expect(() => settingsOf(options)).toThrow(InvalidOptionError);
  });

  it('need a store that can list and swap', () => {
    const { listLeases, swapLease } = memoryStore();
    for (const store of [undefined, null, {}, { listLeases }, { swapLease }])
      expect(() => leaseSettings(store as never, { namespace: 'a', size: 3 })).toThrow('store must be');
  });

  it('need a store with pages of 1 to 65,536 node ids', () => {
    for (const pageSize of [1, 2 ** 16]) expect(settingsOf({}, { pageSize })).toBeDefined();
    for (const pageSize of [0, 2 ** 16 + 1])
      expect(() => settingsOf({}, { pageSize })).toThrow(InvalidOptionError);
  });

  it('need a clock and a limit of the ttl where the store can forget', () => {
    const now = async () => 0;
    expect(() => settingsOf({}, { durable: false })).toThrow('a store with now()');
    expect(settingsOf({ ttl: 60_000 }, { durable: false, now }).ttl).toBe(60_000);
    expect(settingsOf({ ttl: 5000 }, { durable: false, now, maxTtl: 5000 }).ttl).toBe(5000);
    expect(() => settingsOf({ ttl: 5001 }, { durable: false, now, maxTtl: 5000 })).toThrow('at most 5000');
    expect(() => settingsOf({ ttl: 60_001 }, { durable: false, now })).toThrow('at most 60000');
    expect(settingsOf({ ttl: 70_000 }).ttl).toBe(70_000);
  });
});

describe('texts', () => {
  it.each(['a', 'x'.repeat(255), '💡'])('%s is a namespace and a label', (text) => {
    expect([requireNamespace(text), requireLabel(text)]).toEqual([text, text]);
  });

  it.each(['a\0', LONE, 'x'.repeat(256), 5, null])('%s is neither', (text) => {
    expect(() => requireNamespace(text)).toThrow(InvalidOptionError);
    expect(() => requireLabel(text as string)).toThrow(InvalidOptionError);
  });

  it('a namespace is not empty, a label may be', () => {
    expect(() => requireNamespace('')).toThrow(InvalidOptionError);
    expect(requireLabel('')).toBe('');
  });

  it('only a namespace of idsmith verify may be removed', () => {
    expect(requireTrial('idsmith-verify/1')).toBe('idsmith-verify/1');
    for (const name of ['a', 'idsmith-verify', '', 'x/idsmith-verify/'])
      expect(() => requireTrial(name)).toThrow(InvalidOptionError);
  });
});

describe('the longest ttl of a namespace', () => {
  const known = (store: LeaseStore, namespace = 'a', maxTtl = 1000) =>
    ({ store, namespace, maxTtl }) as LeaseSettings;
  const birth = (epoch: number, fence = 5): LeaseRecord => ({ ...undatedBirth('x'), epoch, fence });

  it('is the highest that was seen, in this store and namespace', () => {
    const store = memoryStore();
    rememberLimit(known(store), undefined);
    rememberLimit(known(store), birth(99_000, undatedBirth('x').fence));
    expect(longestTtl(known(store))).toBe(1000);
    rememberLimit(known(store), birth(90_000));
    rememberLimit(known(store), birth(70_000));
    expect(longestTtl(known(store))).toBe(90_000);
    expect(longestTtl(known(store, 'a', 95_000))).toBe(95_000);
    expect(longestTtl(known(store, 'b'))).toBe(1000);
    expect(longestTtl(known(memoryStore()))).toBe(1000);
    rememberLimit(known(store, 'b'), birth(80_000));
    expect([longestTtl(known(store)), longestTtl(known(store, 'b'))]).toEqual([90_000, 80_000]);
  });

  it('is the default where the record has none', () => {
    const store = memoryStore();
    rememberLimit(known(store), birth(0));
    expect(longestTtl(known(store))).toBe(60_000);
  });

  it('is kept to', () => {
    const require = (ttl: number, epoch: number) =>
      requireTtl({ namespace: 'a', ttl, maxTtl: 3000 } as LeaseSettings, birth(epoch));
    for (const [ttl, epoch] of [
      [2000, 2000],
      [3000, 0],
      [1, 1],
    ] as const)
      expect(() => require(ttl, epoch)).not.toThrow();
    for (const [ttl, epoch] of [
      [2001, 2000],
      [3001, 0],
      [2, 1],
    ] as const)
      expect(() => require(ttl, epoch)).toThrow(`at most ${epoch || 3000}`);
  });
});

describe('the page to look at', () => {
  const readLeases = async () => [];
  const page = (size: number, seen: number, hasRivals = false, fraction = 0.5, pageSize?: number) =>
    pageOf(
      { size, store: { readLeases, ...(pageSize && { pageSize }) } as never },
      seen,
      hasRivals,
      fraction,
    );

  it('is the whole namespace, unless it is larger than 16 pages', () => {
    expect(page(64, 0, false, 0.5, 4)).toBeUndefined();
    expect(page(65, 0, false, 0.5, 4)).toEqual({ first: 0, count: 4 });
    expect(page(1024, 0)).toBeUndefined();
    expect(page(1025, 0)).toEqual({ first: 0, count: 64 });
    expect(pageOf({ size: 1025, store: {} as never }, 0, true, 0)).toBeUndefined();
  });

  it('is one of the two lowest, then any two, then the whole namespace', () => {
    const pages = [0, 1, 2, 3, 4].map((seen) => page(66, seen, false, 0.5, 4));
    expect(pages.map((each) => each?.first)).toEqual([0, 4, 32, 32, undefined]);
    expect(page(66, 2, false, 0.99, 4)).toEqual({ first: 64, count: 2 });
  });

  it('is any one for those who know of rivals, at most once for each page', () => {
    expect(page(66, 0, true, 0.5, 4)).toEqual({ first: 32, count: 4 });
    expect(page(3, 0, true, 0.99, 4)).toEqual({ first: 0, count: 3 });
    expect(page(8, 1, true, 0.99, 4)).toEqual({ first: 4, count: 4 });
    expect(page(8, 2, true, 0.99, 4)).toBeUndefined();
    expect(page(3, 1, true, 0.99, 4)).toBeUndefined();
  });
});

describe('a generator', () => {
  it('has room for as many node ids as the lease may get', () => {
    const room = (size: number) => () => requireRoom({ namespace: 'a', size }, { nodes: 8 } as never);
    expect(room(8)).not.toThrow();
    expect(room(9)).toThrow('room for 8 node ids');
  });
});
