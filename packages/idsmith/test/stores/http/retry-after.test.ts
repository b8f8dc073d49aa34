import { memoryStore } from 'idsmith';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TestServer } from '../../../../server/test/support/server.ts';
import { get, requestedWait } from '../../../src/stores/http/connection.ts';
import { httpStore } from '../../../src/stores/http/store.ts';

const NOON = 'Mon, 16 Nov 2026 12:00:00 GMT';

describe('A server that names the time of the next try', () => {
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['ahead', '2026-11-16T11:59:55.000Z', 5000],
    ['that is over', '2026-11-16T12:00:01.000Z', 0],
  ])('as a date %s is asked again then', (_, now, wait) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(now) });
    expect(requestedWait({ status: 503, retryAfter: NOON, text: '' }, get('asking', '/'))).toBe(wait);
  });

  it.each(['soon', '', '1234567890123456', '-1', '-5', '1.5', '+3', '2026-11-16', '12'.repeat(9)])(
    'as %j has named none',
    (retryAfter) => {
      expect(requestedWait({ status: 503, retryAfter, text: '' }, get('asking', '/'))).toBeUndefined();
    },
  );

  it.each([
    ['it had too much to do', '{"code":"OVERLOADED"}', 1000],
    ['its store failed, perhaps with the work done', '{"code":"STORE"}', undefined],
    ['a proxy in front of it answered', '<html>Bad gateway</html>', undefined],
    ['nobody said why', '', undefined],
  ])(
    'is asked again for something that must not be done twice only if nothing was done: %s',
    (_, text, wait) => {
      const request = { ...get('asking', '/'), isRepeatable: false };
      expect(requestedWait({ status: 503, retryAfter: '1', text }, request)).toBe(wait);
    },
  );

  it('is asked again by the store', async () => {
    const server = await TestServer.start({}, memoryStore());
    let asked = 0;
    const refusedOnce: typeof fetch = async (...request) =>
      ++asked === 1
        ? new Response('', { status: 503, headers: { 'retry-after': NOON.replace('2026', '2020') } })
        : fetch(...request);
    const store = httpStore(server.url, { fetch: refusedOnce });
    expect(await store.listSequences()).toEqual([]);
    expect(asked).toBe(2);
    await server.stop();
  });
});
