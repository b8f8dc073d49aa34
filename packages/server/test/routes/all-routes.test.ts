import { type LeaseRecord, LocalityUuid, layouts, memoryStore } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { type Seen, TestServer } from '../support/server.ts';

/** Without the records of the namespace itself. */
const nodesIn = ({ json }: Seen): LeaseRecord[] => json.leases.filter(({ id }: LeaseRecord) => id >= 0);

const MAX = '9223372036854775807';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.prepare();
});
afterAll(() => server?.stop());

describe('POST /v1/flakes', () => {
  it('mints one id, as text', async () => {
    const { status, headers, json } = await server.post('/v1/flakes');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(json.ids).toHaveLength(1);
    expect(Math.abs(layouts.jflake.decode(json.ids[0]).timestamp - Date.now())).toBeLessThan(5000);
  });

  it('mints up to ten thousand at once, which increase', async () => {
    const { ids } = (await server.post('/v1/flakes?count=10000')).json;
    expect(ids).toHaveLength(10_000);
    expect(ids.every((id: string, i: number) => i === 0 || BigInt(id) > BigInt(ids[i - 1]))).toBe(true);
  });

  it('mints no id twice, however many ask at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => server.post(`/v1/flakes?count=${1 + (i % 50)}`)),
    );
    expect(repeated(answers.flatMap(({ json }) => json.ids))).toEqual([]);
  });

  it('takes another layout', async () => {
    const other = await TestServer.prepare({ layout: 'safe53' });
    const [id] = (await other.post('/v1/flakes')).json.ids;
    expect(Number.isSafeInteger(Number(id))).toBe(true);
    expect(nodesIn(await other.get('/v1/leases/safe53'))).toHaveLength(1);
    await other.stop();
  });
});

describe('POST /v1/uuid7', () => {
  it('mints UUIDs of version 7 that increase, with a leased node id in their last digits', async () => {
    const many = (await server.post('/v1/uuid7?count=1000')).json.ids;
    const more = (await server.post('/v1/uuid7')).json.ids;
    const ids: string[] = [...many, ...more];
    expect(ids).toHaveLength(1001);
    expect(ids.every((id, i) => i === 0 || id > ids[i - 1]!)).toBe(true);
    expect(new Set(ids.map((id) => id.slice(14, 15) + id.slice(-4))).size).toBe(1);
    const { leases } = (await server.get('/v1/server')).json;
    const { node } = leases.find(({ family }: { family: string }) => family === 'uuid7');
    expect(ids[0]!.slice(-4)).toBe(node.toString(16).padStart(4, '0'));
  });
});

describe('POST /v1/locality', () => {
  it('spreads ids, or keeps them together', async () => {
    const spread = (await server.post('/v1/locality?count=100')).json.ids;
    const together = (await server.post('/v1/locality?count=100&mode=sequential')).json.ids;
    const more = (await server.post('/v1/locality?mode=sequential')).json.ids;
    expect([...spread, ...together, ...more].every(LocalityUuid.isValid)).toBe(true);
    expect(repeated([...spread, ...together, ...more])).toEqual([]);
    const counters = [...together, ...more].map((id: string) => Number.parseInt(id.slice(0, 8), 16));
    expect(counters.every((c, i) => i === 0 || c === ((counters[i - 1] as number) + 1) % 2 ** 32)).toBe(true);
    expect(new Set(spread.map((id: string) => id[0])).size).toBeGreaterThan(8);
  });
});

describe('POST /v1/keys', () => {
  it('says what is missing where there are no shards', async () => {
    const { status, json } = await server.post('/v1/keys?type=user');
    expect({ status, ...json }).toMatchObject({ status: 501, code: 'NOT_CONFIGURED' });
    expect(json.detail).toContain('--shards');
  });
});

describe('Sequences', () => {
  it('are defined, drawn from, described, altered, listed and removed', async () => {
    const made = await server.post('/v1/sequences', {
      body: { name: 'orders', start: '10001', blockSize: 10, max: MAX },
    });
    expect(made.status).toBe(201);
    const orders = {
      name: 'orders',
      start: '10001',
      next: '10001',
      blockSize: 10,
      step: 1,
      min: '-9223372036854775808',
      max: MAX,
      cycle: false,
      exhausted: false,
      remaining: expect.any(String),
      stranded: expect.any(String),
      forecast: expect.toBeOneOf([null, expect.anything()]),
    };
    const since = expect.any(Number);
    expect(made.json).toEqual({ ...orders, handedOut: 0, since });
    expect((await server.post('/v1/sequences/orders/next')).json).toEqual({ ids: ['10001'] });
    expect((await server.post('/v1/sequences/orders/next?count=3')).json.ids).toEqual([
      '10002',
      '10003',
      '10004',
    ]);
    expect((await server.get('/v1/sequences/orders')).json).toEqual({
      ...orders,
      next: '10011',
      handedOut: 4,
      since,
    });
    const altered = await server.call('PATCH', '/v1/sequences/orders', { body: { next: '20000', step: 5 } });
    expect(altered.json).toMatchObject({ next: '20000', step: 5 });
    expect((await server.post('/v1/sequences/orders/next?count=2')).json.ids).toEqual(['20000', '20005']);
    const { sequences } = (await server.get('/v1/sequences')).json;
    expect(sequences.map(({ name }: { name: string }) => name)).toEqual(['orders']);
    const removed = await server.call('DELETE', '/v1/sequences/orders');
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect((await server.post('/v1/sequences/orders/next')).status).toBe(404);
  });

  it('go on from what was altered, and not from what was at hand', async () => {
    await server.post('/v1/sequences', { body: { name: 'jump', blockSize: 100 } });
    await server.post('/v1/sequences/jump/next');
    await server.call('PATCH', '/v1/sequences/jump', { body: { next: '1000' } });
    expect((await server.post('/v1/sequences/jump/next')).json.ids).toEqual(['1000']);
  });

  it('start anew when they are removed and defined again, with nothing left of the old ones', async () => {
    for (let round = 0; round < 2; round++) {
      await server.post('/v1/sequences', { body: { name: 'phoenix', blockSize: 100 } });
      expect((await server.post('/v1/sequences/phoenix/next?count=2')).json.ids).toEqual(['1', '2']);
      await server.call('DELETE', '/v1/sequences/phoenix');
    }
  });

  it('give blocks, and take their unused ends back', async () => {
    await server.post('/v1/sequences', { body: { name: 'blocks', blockSize: 10 } });
    const { json: block } = await server.post('/v1/sequences/blocks/blocks?count=2');
    expect(block).toMatchObject({ first: '1', step: 1, count: 20 });
    const tail = { ...block, first: '16', count: 5 };
    expect((await server.post('/v1/sequences/blocks/tails', { body: tail })).json).toEqual({
      returned: true,
    });
    expect((await server.post('/v1/sequences/blocks/tails', { body: tail })).json).toEqual({
      returned: false,
    });
    expect((await server.post('/v1/sequences/blocks/blocks')).json.first).toBe('16');
  });

  it('draw without a gap or a repeat, however many ask at once', async () => {
    await server.post('/v1/sequences', { body: { name: 'busy' } });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => server.post(`/v1/sequences/busy/next?count=${1 + (i % 7)}`)),
    );
    const ids = answers.flatMap(({ json }) => json.ids).map(BigInt) as bigint[];
    ids.sort((a, b) => (a < b ? -1 : 1));
    expect(ids.findIndex((id, i) => id !== BigInt(i + 1))).toBe(-1);
  });

  it('draw no id twice while they are altered', async () => {
    await server.post('/v1/sequences', { body: { name: 'restless', blockSize: 5 } });
    const ids: string[] = [];
    const drawn = Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 25; i++)
        ids.push(...(await server.post('/v1/sequences/restless/next?count=3')).json.ids);
    });
    for (let i = 0; i < 20; i++)
      await server.call('PATCH', '/v1/sequences/restless', { body: { blockSize: 1 + i } });
    await Promise.all(drawn);
    expect(ids).toHaveLength(600);
    expect(repeated(ids)).toEqual([]);
  });

  it('take no digit from a large id', async () => {
    const start = '9007199254740993';
    await server.post('/v1/sequences', { body: { name: 'large', start } });
    expect((await server.post('/v1/sequences/large/next?count=2')).json.ids).toEqual([
      start,
      '9007199254740994',
    ]);
    await server.post('/v1/sequences', { body: { name: 'down', start: '5', step: -2, min: '-3' } });
    expect((await server.post('/v1/sequences/down/blocks')).status).toBe(410);
  });
});

describe('Leases', () => {
  const lease = { id: 3, owner: 'me', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host' };

  it('are listed with the time and with what the store promises', async () => {
    const seen = await server.get('/v1/leases/jflake');
    const { json } = seen;
    expect(json).toMatchObject({ namespace: 'jflake', durable: true, maxTtl: null });
    expect(nodesIn(seen)).toHaveLength(1);
    expect(Math.abs(json.now - Date.now())).toBeLessThan(5000);
  });

  it('are swapped if they are as expected', async () => {
    const swap = async (body: object) =>
      (await server.post('/v1/leases/swapped/swap', { body })).json.swapped;
    expect(await swap({ next: lease })).toBe(true);
    expect(await swap({ expected: null, next: lease })).toBe(false);
    expect(await swap({ expected: lease, next: { ...lease, epoch: 2 } })).toBe(true);
    expect(await swap({ expected: lease, next: { ...lease, epoch: 3 } })).toBe(false);
    const owner = expect.stringMatching(/^sha256:[0-9a-f]{32}$/);
    expect((await server.get('/v1/leases/swapped')).json.leases).toEqual([{ ...lease, owner, epoch: 2 }]);
  });

  it('are removed from a namespace of idsmith verify, and from no other', async () => {
    for (const [namespace, status, left] of [
      ['idsmith-verify%2Fa', 204, 0],
      ['kept', 422, 1],
    ] as const) {
      await server.post(`/v1/leases/${namespace}/swap`, { body: { next: lease } });
      expect((await server.call('DELETE', `/v1/leases/${namespace}`)).status).toBe(status);
      expect((await server.get(`/v1/leases/${namespace}`)).json.leases).toHaveLength(left);
    }
  });

  it('are not swapped so that two could hold the same window', async () => {
    const swap = (body: object) => server.post('/v1/leases/unsafe/swap', { body });
    await swap({ next: lease });
    for (const next of [
      { ...lease, fence: 999 },
      { ...lease, epoch: 0 },
      { ...lease, id: 4 },
    ])
      expect((await swap({ expected: lease, next })).json.code).toBe('INVALID_OPTION');
    const free = { ...lease, owner: null, fence: 500, expiresAt: 0 };
    expect((await swap({ expected: lease, next: free })).json.swapped).toBe(true);
  });
});

describe('GET /v1/inspect/{id}', () => {
  it('tells which process made a flake', async () => {
    const [id] = (await server.post('/v1/flakes')).json.ids;
    const { makers } = (await server.get(`/v1/inspect/${id}`)).json;
    expect(makers).toMatchObject([
      { namespace: 'jflake', layout: 'jflake', term: 1, isHeld: true, isCertain: true },
    ]);
    expect(makers[0].label).toContain(String(process.pid));
  });

  it('tells every reading, best first', async () => {
    const { json } = await server.get('/v1/inspect/1703865194431643648');
    expect(json.id).toBe('1703865194431643648');
    expect(json.readings[0]).toMatchObject({ family: 'flake', fields: { layout: 'jflake', node: 0 } });
    expect(json.readings.length).toBeGreaterThan(1);
    const uuid = await server.get('/v1/inspect/20be0ffc-314a-bd53-7a50-013a65ca76d2');
    expect(uuid.json.readings[0]).toMatchObject({ family: 'locality', fields: { processId: 12618 } });
  });
});

describe('Operations', () => {
  it('GET /healthz and /readyz say that all is well', async () => {
    expect((await server.get('/healthz')).json).toEqual({ status: 'ok' });
    expect((await server.get('/readyz')).json).toEqual({ status: 'ready' });
  });

  it('GET /v1/server tells its leases and limits', async () => {
    const { json } = await server.get('/v1/server');
    expect(json).toMatchObject({ layout: 'jflake', durable: true, limits: { count: 10_000 } });
    expect(json).toMatchObject({ scopes: ['mint', 'lease', 'admin'] });
    // A store in memory has none.
    expect(json.schema).toBeNull();
    expect(json.leases[0]).toMatchObject({ family: 'flake', namespace: 'jflake', state: 'active' });
  });

  it('GET / is the console', async () => {
    const { headers, text } = await server.get('/');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const [script] = /assets\/index-[^"]+\.js/.exec(text) ?? [];
    expect((await server.get(`/${script}`)).headers.get('content-type')).toBe(
      'text/javascript; charset=utf-8',
    );
  });

  it('GET / names every route where there is no console', async () => {
    const here = await TestServer.prepare({ assets: 'none' });
    const { headers, text } = await here.get('/');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const { json } = await here.get('/openapi.json');
    for (const path of Object.keys(json.paths)) expect(text).toContain(`<code>${path}</code>`);
    await here.stop();
  });

  it('HEAD is answered as GET is, without the answer', async () => {
    // Node leaves the body out when it writes to a socket.
    const listening = await TestServer.start();
    expect((await listening.call('HEAD', '/v1/sequences')).status).toBe(200);
    expect((await listening.call('HEAD', '/healthz')).text).toBe('');
    await listening.stop();
  });
});

describe('A server', () => {
  it('gives back what it holds when it is closed', async () => {
    const store = memoryStore();
    const one = await TestServer.prepare({}, store);
    await one.post('/v1/sequences', { body: { name: 'x', blockSize: 100 } });
    await one.post('/v1/sequences/x/next?count=5');
    await one.post('/v1/flakes');
    await one.stop();
    expect((await store.describeSequence('x')).next).toBe(6n);
    for (const namespace of ['jflake', 'locality'])
      expect((await store.listLeases(namespace)).filter(({ id }) => id >= 0)).toMatchObject([
        { id: 0, owner: null, expiresAt: 0 },
      ]);
    const two = await TestServer.prepare({}, store);
    expect((await two.post('/v1/sequences/x/next')).json.ids).toEqual(['6']);
    await two.stop();
  });

  it('shares a store with others, and no id comes twice', async () => {
    const store = memoryStore();
    const servers = await Promise.all([1, 2, 3].map(() => TestServer.prepare({}, store)));
    await servers[0]!.post('/v1/sequences', { body: { name: 'shared', blockSize: 3 } });
    const asked = servers.flatMap((each) =>
      Array.from({ length: 20 }, async () => [
        ...(await each.post('/v1/flakes?count=20')).json.ids,
        ...(await each.post('/v1/locality?count=20')).json.ids,
        ...(await each.post('/v1/sequences/shared/next?count=4')).json.ids,
      ]),
    );
    expect(repeated((await Promise.all(asked)).flat())).toEqual([]);
    await Promise.all(servers.map((each) => each.stop()));
  });
});
