import { acquireLease, type LeaseRecord, memoryStore, type RandomSource, type Store } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestServer } from '../../../../server/test/support/server.ts';
import { httpStore } from '../../../src/stores/http/store.ts';

/** Random numbers that lead to the middle of a namespace, where nobody is. */
const towardsTheMiddle: RandomSource = {
  fill(target) {
    crypto.getRandomValues(target);
    target[0] = 0x80;
  },
};

const idsOf = (records: readonly LeaseRecord[]) => records.map(({ id }) => id).sort((a, b) => a - b);

describe('A part of a namespace', () => {
  const inner = memoryStore();
  /** What the server has asked its store for. */
  let asked: string[] = [];
  const behind: Store = {
    ...inner,
    listLeases: (...args) => {
      asked.push('all');
      return inner.listLeases(...args);
    },
    readLeases: (namespace, first, count) => {
      asked.push(`${count} from ${first}`);
      return inner.readLeases!(namespace, first, count);
    },
  };
  let server: TestServer;

  beforeAll(async () => {
    server = await TestServer.start({}, behind);
    const until = Date.now() + 3_600_000;
    const record = { owner: 'other', epoch: 1, fence: until, expiresAt: until, label: '' };
    for (const id of [-2, ...Array(2000).keys()])
      await inner.swapLease('large', undefined, { ...record, id, label: id < 0 ? 'layout' : '' });
  });
  afterAll(() => server?.stop());

  it('comes with the records of the namespace itself, and is all that the server reads', async () => {
    const store = httpStore(server.url);
    asked = [];
    expect(idsOf(await store.readLeases!('large', 10, 3))).toEqual([-2, 10, 11, 12]);
    expect(idsOf(await store.readLeases!('large', 1999, 64))).toEqual([-2, 1999]);
    expect(idsOf(await store.readLeases!('large', 0, 0))).toEqual([-2]);
    expect(asked).toEqual(['3 from 10', '64 from 1999', '0 from 0']);
  });

  it('is all that an acquisition in a large namespace reads', async () => {
    const store = httpStore(server.url);
    await store.now!();
    asked = [];
    const leases = [];
    const options = { namespace: 'large', size: 65_536, ttl: 60_000, random: towardsTheMiddle };
    for (let i = 0; i < 5; i++) leases.push(await acquireLease(store, options));
    for (const { id } of leases) expect(id).toBeGreaterThanOrEqual(2000);
    expect(asked.filter((what) => what === 'all')).toEqual([]);
    // At most four pages for each.
    expect(asked.length).toBeLessThanOrEqual(20);
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it('is taken from the whole where the store behind the server has no pages, or smaller ones', async () => {
    const { readLeases, ...plain } = behind;
    for (const other of [plain, { ...plain, readLeases, pageSize: 2 }] as Store[]) {
      const small = await TestServer.start({}, other);
      asked = [];
      expect(idsOf(await httpStore(small.url).readLeases!('large', 10, 3))).toEqual([-2, 10, 11, 12]);
      expect(asked).toEqual(['all']);
      await small.stop();
    }
  });

  it('is taken from the whole of a server that knows no pages, which is asked for one once', async () => {
    const paths: string[] = [];
    const earlier: typeof fetch = async (input, init) => {
      const { pathname, search } = new URL(String(input));
      paths.push(pathname + search);
      // A server answers so to any name in the query that it does not know.
      const problem = { code: 'INVALID_OPTION', detail: 'first in the query is unknown' };
      return search === '' ? fetch(input, init) : new Response(JSON.stringify(problem), { status: 422 });
    };
    const store = httpStore(server.url, { fetch: earlier });
    for (let i = 0; i < 2; i++) expect(idsOf(await store.readLeases!('large', 10, 2))).toEqual([-2, 10, 11]);
    expect(paths).toEqual(['/v1/leases/large?first=10&count=2', '/v1/leases/large', '/v1/leases/large']);
  });

  it.each(['first=0', 'count=5', 'first=-1&count=5', 'first=0&count=65', 'first=0&count=x', 'from=0'])(
    'is refused by the server with ?%s',
    async (query) => {
      const { status, json } = await server.get(`/v1/leases/large?${query}`);
      expect([status, json.code]).toEqual([422, 'INVALID_OPTION']);
    },
  );
});
