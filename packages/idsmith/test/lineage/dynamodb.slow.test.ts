import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  ScanCommand,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb';
import { acquireLease, type Block } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamodbStore } from '../../src/stores/dynamodb/store.ts';
import type { Store } from '../../src/stores/store.ts';

/** A DynamoDB in pure JavaScript, which brings no types. */
const dynalite = createRequire(import.meta.url)('dynalite') as (options: object) => Server;

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

describe('A DynamoDB table that is restored', () => {
  let server: Server;
  let client: DynamoDBClient;

  beforeAll(async () => {
    server = dynalite({ createTableMs: 10, deleteTableMs: 10 });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = new DynamoDBClient({ region: 'eu-west-1', endpoint, credentials });
  });

  afterAll(async () => {
    client.destroy();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  const open = (table: string) => dynamodbStore(client, { table });

  async function backup(TableName: string) {
    return (await client.send(new ScanCommand({ TableName, ConsistentRead: true }))).Items ?? [];
  }

  /** Deletes the table, and makes another one of its name, with these items. */
  async function restore(TableName: string, items: Awaited<ReturnType<typeof backup>>): Promise<void> {
    const patience = { client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 };
    await client.send(new DeleteTableCommand({ TableName }));
    await waitUntilTableNotExists(patience, { TableName });
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      }),
    );
    await waitUntilTableExists(patience, { TableName });
    for (const Item of items) {
      const RequestItems = { [TableName]: [{ PutRequest: { Item } }] };
      await client.send(new BatchWriteItemCommand({ RequestItems }));
    }
  }

  const idsOf = ({ first, step, count }: Block) =>
    Array.from({ length: count }, (_, i) => first + BigInt(step * i));

  async function take(store: Store, blocks: number): Promise<bigint[]> {
    const ids: bigint[] = [];
    for (let i = 0; i < blocks; i++) ids.push(...idsOf(await store.allocate('orders', 1)));
    return ids;
  }

  it.each(['survivor', 'newcomer'])('repeats no number, whoever comes first: a %s', async (first) => {
    const [one, two] = [open(first), open(first)];
    await one.defineSequence({ name: 'orders' });
    const ids = [...(await take(one, 5)), ...(await take(two, 5))];
    const items = await backup(first);
    ids.push(...(await take(one, 20)), ...(await take(two, 20)));
    await restore(first, items);
    const order = first === 'survivor' ? [one, open(first), two] : [open(first), two, one];
    for (const store of order) ids.push(...(await take(store, 30)));
    expect(ids).toHaveLength(140 * 20);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('makes newcomers wait until forgotten windows have ended', async () => {
    const options = { namespace: 'orders', size: 4, ttl: 20_000, maxSkew: 2000 };
    const other = await acquireLease(open('leases'), { ...options, namespace: 'other' });
    const items = await backup('leases');
    const lost = await acquireLease(open('leases'), { ...options, reacquire: false });
    await restore('leases', items);
    const waiting = acquireLease(open('leases'), { ...options, waitFor: 1 });
    await expect(waiting).rejects.toThrow(/can be used at/);
    const [own] = (await open('leases').listLeases('orders')).filter(({ id }) => id === -1);
    expect(own!.fence).toBeGreaterThanOrEqual(lost.until);
    await Promise.allSettled([other.release(), lost.release()]);
  });

  it('gives no number twice to a process, when the table is empty and the sequence is defined again', async () => {
    const store = open('empty');
    await store.defineSequence({ name: 'orders' });
    const ids = await take(store, 5);
    await restore('empty', []);
    await store.defineSequence({ name: 'orders' });
    await expect(take(store, 1)).rejects.toMatchObject({ code: 'STORE_WENT_BACK' });
    ids.push(...(await take(store, 5)), ...(await take(open('empty'), 5)));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
