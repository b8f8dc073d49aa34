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
import { acquireLease } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamodbStore } from '../../src/stores/dynamodb/store.ts';
import { allRepeats, Minter, mintWhile, NO_REPEATS } from './minters.ts';

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

  const minter = (table: string) => new Minter(open(table));

  it.each(['survivor', 'newcomer'])('repeats no number, whoever comes first: a %s', async (first) => {
    const [one, two, three] = [minter(first), minter(first), minter(first)];
    await one.store.defineSequence({ name: 'orders' });
    for (const each of [one, two]) await each.take(5);
    const items = await backup(first);
    for (const each of [one, two]) await each.take(20);
    const forgotten = new Minter(open(first));
    await forgotten.begin();
    await restore(first, items);
    const order = first === 'survivor' ? [one, three, two] : [three, two, one];
    for (const each of order) await each.take(30);
    const newcomer = new Minter(open(first));
    await newcomer.begin();
    expect(allRepeats([...order, forgotten, newcomer])).toEqual(NO_REPEATS);
    for (const each of order) {
      const count = each === three ? 30 : 55;
      expect([each.numbers.length, each.invoices.length, each.errors]).toEqual([count * 20, count, []]);
    }
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

  it('gives nothing twice to a process, when the table is empty and the sequence is defined again', async () => {
    const survivor = await minter('empty').acquire(2000);
    await survivor.store.defineSequence({ name: 'orders' });
    await survivor.take(5);
    survivor.mint(1000);
    const told = new Promise((resolve) => survivor.lease.on('renewal-failed', resolve));
    await restore('empty', []);
    await survivor.store.defineSequence({ name: 'orders' });
    await survivor.take(1);
    expect(survivor.errors).toEqual(['STORE_WENT_BACK', 'NO_SUCH_SEQUENCE']);
    // The same process defines the series again. The table is known to have lost something by now, so its numbers begin further on.
    const again = new Minter(survivor.store);
    await again.take(5);
    expect(again.errors).toEqual([]);
    expect(again.invoices[0]).toBe('R-1001');
    await mintWhile([survivor], told);
    expect(await told).toMatchObject({ code: 'STORE_WENT_BACK' });
    const { until } = survivor.lease;
    const newcomer = minter('empty');
    await newcomer.take(5);
    await newcomer.acquire(2000);
    newcomer.mint(1000);
    expect(newcomer.lease.from).toBeGreaterThanOrEqual(until);
    expect(allRepeats([survivor, again, newcomer])).toEqual(NO_REPEATS);
    await Promise.all([survivor.end(), newcomer.end()]);
  });
});
