import { acquireLease, layouts, memoryStore, type Store } from 'idsmith';
import { expect, it, type TestContext } from 'vitest';
import { type Seen, TestServer } from '../support/server.ts';

// A server that waits for a node id tells why, how many node ids are taken, and when to ask again.

const LONG = { timeout: 60_000 };
const size = layouts.jflake.max('node') + 1;

async function serverOn(store: Store, { onTestFinished }: TestContext): Promise<TestServer> {
  const server = await TestServer.prepare({}, store);
  onTestFinished(() => server.stop());
  return server;
}

/** The first answer whose detail is this one. A busy machine may need some time until all is known. */
async function refused(ask: () => Promise<Seen>, detail: RegExp, code = 'LEASES_EXHAUSTED'): Promise<Seen> {
  let seen: Seen | undefined;
  const ended = async () => {
    seen = await ask();
    return seen.json.detail;
  };
  await expect.poll(ended).toMatch(detail);
  expect(seen).toMatchObject({ status: 503, json: { code } });
  return seen as Seen;
}

it('names all node ids as taken, and lets the client ask again in a second', LONG, async (context) => {
  const store = memoryStore();
  // Leases of an hour: none expires during the test.
  const options = { namespace: 'jflake', size, ttl: 3_600_000 };
  const leases = await Promise.all(Array.from({ length: size }, () => acquireLease(store, options)));
  context.onTestFinished(async () => void (await Promise.all(leases.map((lease) => lease.release()))));
  const server = await serverOn(store, context);
  const taken = `${size} of ${size} node ids are taken`;
  const flake = await refused(
    () => server.post('/v1/flakes'),
    new RegExp(`^no node id available in namespace "jflake": all ${size} are held\\b`),
  );
  expect(flake.headers.get('retry-after')).toBe('1');
  const ready = await refused(
    () => server.get('/readyz'),
    new RegExp(`^this server cannot mint at present: flake; it found no node id that is free; ${taken}$`),
  );
  expect(ready.headers.get('retry-after')).toBe('1');
});

it('tells how long the wait in a store that can lose its data is, and why', LONG, async (context) => {
  // The wait is an hour, so that it is not over before the test is.
  const store: Store = { ...memoryStore(), durable: false, maxTtl: 3_600_000, now: async () => Date.now() };
  const server = await serverOn(store, context);
  const flake = await refused(
    () => server.post('/v1/flakes'),
    /^this server waits \d+ s for a node id in namespace "jflake": the store can lose its data, .+; 0 of 512 node ids are taken$/,
    'STORE',
  );
  const seconds = flake.headers.get('retry-after');
  expect(flake.json.detail).toContain(`waits ${seconds} s `);
  expect(Number(seconds)).toBeGreaterThan(3000);
  const ready = await refused(
    () => server.get('/readyz'),
    /^this server cannot mint at present: flake, locality variable; it waits \d+ s for a node id; 0 of 512 node ids are taken$/,
    'STORE',
  );
  expect(ready.json.detail).toContain(`waits ${ready.headers.get('retry-after')} s `);
});

it('says that the store has not answered, and mints once it has', LONG, async (context) => {
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const memory = memoryStore();
  const late = async (namespace: string) => {
    // The server asks for other namespaces before it listens.
    if (namespace === 'jflake') await answered;
    return memory.listLeases(namespace);
  };
  const server = await serverOn({ ...memory, listLeases: late, readLeases: late }, context);
  await refused(
    () => server.post('/v1/flakes'),
    /^this server is waiting for a node id in namespace "jflake": its store has not answered yet$/,
    'STORE',
  );
  answer();
  await expect.poll(async () => (await server.post('/v1/flakes')).status).toBe(200);
});
