import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { acquireLease, ClockError, InvalidOptionError, type LeaseRecord, StoreError } from 'idsmith';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { dynamodbStore, openDynamodb } from '../../../src/stores/dynamodb/store.ts';

/** A DynamoDB in pure JavaScript, which brings no types. */
const dynalite = createRequire(import.meta.url)('dynalite') as (options: { createTableMs: number }) => Server;

const HELD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

describe('The DynamoDB store', () => {
  let server: Server;
  let endpoint: string;
  const clients: DynamoDBClient[] = [];

  const newClient = (maxAttempts = 3) => {
    const client = new DynamoDBClient({ region: 'eu-west-1', endpoint, credentials, maxAttempts });
    clients.push(client);
    return client;
  };

  beforeAll(async () => {
    server = dynalite({ createTableMs: 300 });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(async () => {
    for (const client of clients) client.destroy();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  describe('holds to the port', () => {
    // Other suites may run beside it, and 64 clients in this process wait for one server in it.
    const open = () => dynamodbStore(newClient(), { table: 'conformance', timeout: 60_000 });
    for (const { name, run } of leaseStoreCases(open)) it(name, { timeout: 180_000 }, run);
    for (const { name, run } of sequenceStoreCases(open)) it(name, run);
  });

  it('is durable, and has the clock of the service to the second', async () => {
    const store = dynamodbStore(newClient(), { table: 'ids', hashKey: 'key' });
    expect(store.durable).toBe(true);
    const before = Date.now();
    const now = await store.now!();
    expect(now).toBeGreaterThan(before - 2000);
    expect(now).toBeLessThan(Date.now() + 2000);
  });

  it('has no clock where its client does not let answers be looked at', () => {
    const client = newClient();
    const store = dynamodbStore({ send: (command) => client.send(command) }, { table: 'ids' });
    expect(store).not.toHaveProperty('now');
  });

  it('gives no lease to a clock that is years ahead', async () => {
    const store = dynamodbStore(newClient(), { table: 'clock' });
    const clock = { now: () => Date.now() + 50 * 365 * 86_400_000 };
    const options = { namespace: 'ahead', size: 8 };
    await expect(acquireLease(store, { ...options, clock })).rejects.toBeInstanceOf(ClockError);
    expect((await store.listLeases('ahead')).filter(({ id }) => id >= 0)).toEqual([]);
    const lease = await acquireLease(store, options);
    expect(lease.id).toBe(0);
    await lease.release();
  });

  it('makes the table once when twenty start at once', async () => {
    const stores = Array.from({ length: 20 }, () =>
      dynamodbStore(newClient(), { table: 'twenty', hashKey: 'key', timeout: 60_000 }),
    );
    await Promise.all(stores.map((store, id) => store.swapLease('start', undefined, { ...HELD, id })));
    expect(await stores[0]!.listLeases('start')).toHaveLength(20);
    const { Table } = await newClient().send(new DescribeTableCommand({ TableName: 'twenty' }));
    expect(Table?.KeySchema).toEqual([{ AttributeName: 'key', KeyType: 'HASH' }]);
    expect(Table?.BillingModeSummary?.BillingMode).toBe('PAY_PER_REQUEST');
  });

  it('lists a namespace that fills several pages', async () => {
    const store = dynamodbStore(newClient(), { table: 'pages' });
    const records = Array.from({ length: 60 }, (_, id) => ({ ...HELD, id, label: 'x'.repeat(40_000) }));
    for (const record of records) await store.swapLease('big', undefined, record);
    const listed = await store.listLeases('big');
    expect(listed.sort((a, b) => a.id - b.id)).toEqual(records);
  });

  it('knows its own swap again when the answer was lost and the client repeated the request', async () => {
    const store = dynamodbStore(newClient(), { table: 'repeats' });
    await store.swapLease('lost', undefined, HELD);
    const next = { ...HELD, epoch: 2 };
    const lost = loseAnswer(server, 'PutItem');
    expect(await store.swapLease('lost', HELD, next)).toBe(true);
    expect(lost.count).toBe(1);
    expect(await store.listLeases('lost')).toEqual([next]);
    const refused = loseAnswer(server, 'PutItem');
    expect(await store.swapLease('lost', HELD, { ...next, owner: 'b' })).toBe(false);
    expect(refused.count).toBe(1);
  });

  it('fails with a StoreError when the answer was lost and nothing is repeated', async () => {
    const store = dynamodbStore(newClient(1), { table: 'repeats' });
    loseAnswer(server, 'PutItem');
    await expect(store.swapLease('unknown', undefined, HELD)).rejects.toBeInstanceOf(StoreError);
    expect(await store.listLeases('unknown')).toEqual([HELD]);
  });

  it('fails with a StoreError when nothing listens, and when nothing answers in time', async () => {
    const away = new DynamoDBClient({ region: 'eu-west-1', endpoint: 'http://127.0.0.1:1', credentials });
    const failure = await dynamodbStore(away, { table: 'ids' })
      .listLeases('away')
      .catch((error) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure.message).toMatch(/^dynamodb store: listing leases of table ids failed: ./);
    expect(failure.cause).toBeInstanceOf(Error);
    away.destroy();
    const slow = dynamodbStore(newClient(), { table: 'repeats', timeout: 500 });
    // Its first call also connects, and looks at the marker of the schema.
    await expect.poll(() => slow.listLeases('slow').catch(String)).toEqual([]);
    const silence = loseAnswer(server, 'Scan', 'never');
    await expect(slow.listLeases('slow')).rejects.toBeInstanceOf(StoreError);
    await expect.poll(() => silence.count).toBe(1);
  });

  it('fails with a StoreError when the table is of another form', async () => {
    await dynamodbStore(newClient(), { table: 'form' }).listLeases('any');
    const other = dynamodbStore(newClient(), { table: 'form', hashKey: 'pk' });
    await expect(other.swapLease('any', undefined, HELD)).rejects.toBeInstanceOf(StoreError);
  });

  it('is opened and closed by URL', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
    const store = await openDynamodb(`dynamodb://eu-west-1/by-url?endpoint=${endpoint}&hashKey=pk`);
    expect(await store.swapLease('url', undefined, HELD)).toBe(true);
    expect(await store.listLeases('url')).toEqual([HELD]);
    await store.close();
    vi.unstubAllEnvs();
  });
});

/** Drops the connection after the next request of that kind was carried out, or never answers it. */
function loseAnswer(
  server: Server,
  operation: string,
  how: 'dropped' | 'never' = 'dropped',
): { count: number } {
  const lost = { count: 0 };
  const lose = (request: IncomingMessage, response: ServerResponse) => {
    if (!String(request.headers['x-amz-target']).endsWith(`.${operation}`)) return;
    server.off('request', lose);
    response.end = () => {
      lost.count++;
      if (how === 'dropped') response.socket?.destroy();
      return response;
    };
  };
  server.prependListener('request', lose);
  return lost;
}

describe('What the DynamoDB store refuses', () => {
  const silent = { send: async () => ({}) };

  it.each([
    'dynamodb://',
    'dynamodb://eu-west-1',
    'dynamodb://eu-west-1/',
    'dynamodb://eu-west-1/a/b',
    'dynamodb://key:secret@eu-west-1/table',
    'dynamodb://eu-west-1/table?endpoint=secret',
    'dynamodb://eu-west-1/table?endpoint=http://u:secret@h',
    'dynamodb://eu-west-1/table?hashkey=id',
    'dynamodb://eu-west-1/table?hashKey=owner',
  ])('the URL %s, without showing a secret', async (url) => {
    const failure = await openDynamodb(url).catch((error) => error);
    expect(failure).toBeInstanceOf(InvalidOptionError);
    expect(failure.message).not.toContain('secret');
  });

  it('a client that is none, and options that cannot be', () => {
    expect(() => dynamodbStore({} as never, { table: 'ids' })).toThrow(InvalidOptionError);
    expect(() => dynamodbStore(silent, {} as never)).toThrow(InvalidOptionError);
    expect(() => dynamodbStore(silent, undefined as never)).toThrow(InvalidOptionError);
    expect(() => dynamodbStore(silent, { table: 'ids', hashKey: 'fence' })).toThrow(InvalidOptionError);
    expect(() => dynamodbStore(silent, { table: 'ids', timeout: 0 })).toThrow(InvalidOptionError);
  });

  it('an empty namespace', async () => {
    const store = dynamodbStore(silent, { table: 'ids' });
    await expect(store.listLeases('')).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(store.swapLease('', undefined, HELD)).rejects.toBeInstanceOf(InvalidOptionError);
  });
});
