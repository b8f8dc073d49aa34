import { InvalidOptionError, type LeaseStore, memoryStore } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { requireNamespace, requireTrial } from '../../src/lease/namespace.ts';
import { leaseSettings, requireLabel } from '../../src/lease/options.ts';

const DAY = 86_400_000;
const settingsOf = (options: object, store: Partial<LeaseStore> = {}) =>
  leaseSettings({ ...memoryStore(), ...store } as LeaseStore, { namespace: 'a', size: 3, ...options });
const LONE = '\ud800';

describe('the options of a lease', () => {
  it('have defaults', () => {
    expect(settingsOf({})).toMatchObject({
      namespace: 'a',
      size: 3,
      ttl: 30_000,
      maxSkew: 10_000,
      maxIdle: 366 * DAY,
      maxTtl: 30_000,
      waitFor: undefined,
      layout: undefined,
      reacquire: true,
      clock: systemClock,
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
    expect(settingsOf({ ttl: 30_000 }, { durable: false, now }).ttl).toBe(30_000);
    expect(settingsOf({ ttl: 5000 }, { durable: false, now, maxTtl: 5000 }).ttl).toBe(5000);
    expect(() => settingsOf({ ttl: 5001 }, { durable: false, now, maxTtl: 5000 })).toThrow('at most 5000');
    expect(() => settingsOf({ ttl: 30_001 }, { durable: false, now })).toThrow('at most 30000');
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
