import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SequenceExistsError, StoreError } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { depth } from '../../../../../test/depth.ts';
import { dynamodbStore } from '../../../src/stores/dynamodb/store.ts';
import { inLockstep } from '../support/lockstep.ts';
import { drain, notBeside, scramble } from '../support/runs.ts';

/** A DynamoDB in pure JavaScript, which brings no types. */
const dynalite = createRequire(import.meta.url)('dynalite') as (options: { createTableMs: number }) => Server;

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

describe('Sequences in DynamoDB', () => {
  let server: Server;
  let requests = 0;
  const clients: DynamoDBClient[] = [];

  beforeAll(async () => {
    server = dynalite({ createTableMs: 10 });
    server.on('request', ({ headers }: IncomingMessage) => {
      // A process that was waiting for half a second asks for the id of the table first. On a busy machine many do.
      if (!String(headers['x-amz-target']).endsWith('.DescribeTable')) requests++;
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });

  afterAll(async () => {
    for (const client of clients) client.destroy();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  const newClient = (maxAttempts = 3) => {
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = new DynamoDBClient({ region: 'eu-west-1', endpoint, credentials, maxAttempts });
    clients.push(client);
    return client;
  };
  const open = (client = newClient(), timeout = 10_000) => dynamodbStore(client, { table: 'ids', timeout });
  const openMany = (count: number) => Array.from({ length: count }, () => open());

  /** Loses the answer of a request of that kind, the first or the one after `spared`. It is carried out, and then `meanwhile`. */
  function loseAnswer(operation: string, { spared = 0, how = 'dropped', meanwhile = async () => {} } = {}) {
    const lost = { count: 0 };
    const lose = (request: IncomingMessage, response: ServerResponse) => {
      if (!String(request.headers['x-amz-target']).endsWith(`.${operation}`) || spared-- > 0) return;
      server.off('request', lose);
      response.end = () => {
        lost.count++;
        void meanwhile().then(() => how === 'dropped' && response.socket?.destroy());
        return response;
      };
    };
    server.prependListener('request', lose);
    return lost;
  }

  it('are given to 64 clients without gap or repetition, with 1.1 requests a block at most', async () => {
    // A client has a connection for each request under way, and takes long to make.
    const shared = newClient();
    const stores = Array.from({ length: 64 }, () => open(shared));
    await stores[0]!.defineSequence({ name: 'hot', blockSize: 7 });
    // Each client looks once at the marker of the schema, the row and its past.
    const first = await drain(stores, 'hot', 1);
    requests = 0;
    const rounds = depth > 0 ? 15 : 4;
    const later = await drain(stores, 'hot', rounds);
    expect(requests / later.length).toBeLessThan(1.1);
    const blocks = [...first, ...later];
    expect(notBeside(blocks, 'overlap')).toEqual([]);
    expect(notBeside(blocks, 'gap')).toEqual([]);
    expect((await stores[0]!.describeSequence('hot')).next).toBe(BigInt(64 * (rounds + 1) * 7 + 1));
  });

  it('never come twice while clients allocate, give back and alter at once', async () => {
    const stores = openMany(8);
    await stores[0]!.defineSequence({ name: 'scrambled' });
    const blocks = await scramble(stores, 'scrambled', 8);
    expect(notBeside(blocks, 'overlap')).toEqual([]);
    expect(notBeside(blocks, 'gap')).toEqual([]);
  });

  it('are as they are in memory, whatever is done to them', async () => {
    await inLockstep(openMany(3), 10);
  });

  it('jump as far as 64 bits reach', async () => {
    const store = open();
    const [min, step] = [-(2n ** 63n), 2 ** 53 - 1];
    await store.defineSequence({ name: 'wide', start: min, step, blockSize: 1025 });
    expect(await store.allocate('wide', 1)).toMatchObject({ first: min, step, count: 1025 });
    expect((await store.describeSequence('wide')).next).toBe(min + 1025n * BigInt(step));
  });

  it('share the table with leases, and neither is taken for the other', async () => {
    const store = open();
    const record = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };
    await store.swapLease('shared', undefined, record);
    await store.defineSequence({ name: 'shared' });
    expect(await store.listLeases('shared')).toEqual([record]);
    expect((await store.listSequences()).filter(({ name }) => name === 'shared')).toHaveLength(1);
  });

  describe('when the answer was lost and the client repeats the request', () => {
    it('are defined, and known again', async () => {
      const store = open();
      const lost = loseAnswer('PutItem');
      await store.defineSequence({ name: 'defined' });
      expect(lost.count).toBe(1);
      const refused = loseAnswer('PutItem');
      await expect(store.defineSequence({ name: 'defined' })).rejects.toThrow(SequenceExistsError);
      expect(refused.count).toBe(1);
    });

    it('lose a block, which nobody is given', async () => {
      const store = open();
      await store.defineSequence({ name: 'allocated', blockSize: 10 });
      const lost = loseAnswer('UpdateItem');
      expect(await store.allocate('allocated', 1)).toMatchObject({ first: 11n });
      expect(lost.count).toBe(1);
      expect(await store.allocate('allocated', 1)).toMatchObject({ first: 21n });
    });

    it('give their last block all the same', async () => {
      const store = open();
      await store.defineSequence({ name: 'last', blockSize: 10, max: 10 });
      // The first one asks for a block that is not the last.
      const lost = loseAnswer('UpdateItem', { spared: 1 });
      expect(await store.allocate('last', 1)).toMatchObject({ first: 1n, count: 10 });
      expect(lost.count).toBe(1);
    });

    it('are altered once, also when others go on at once', async () => {
      const [store, other] = [open(), open()];
      await store.defineSequence({ name: 'altered', blockSize: 10 });
      const meanwhile = async () => void (await other.allocate('altered', 1));
      for (const changes of [{ next: 1001n }, { next: 2001n, blockSize: 5 }, { next: 3001n, step: 7 }]) {
        const lost = loseAnswer('UpdateItem', { meanwhile });
        const info = await store.alterSequence('altered', changes);
        expect(lost.count).toBe(1);
        expect(info).toEqual(await store.describeSequence('altered'));
        expect(info).toMatchObject({ ...changes, next: changes.next + BigInt(info.step * info.blockSize) });
      }
    });

    it('are removed', async () => {
      const store = open();
      await store.defineSequence({ name: 'removed' });
      const lost = loseAnswer('DeleteItem');
      await store.removeSequence('removed');
      expect(lost.count).toBe(1);
      await expect(store.removeSequence('removed')).rejects.toMatchObject({ code: 'NO_SUCH_SEQUENCE' });
    });
  });

  it.each(['dropped', 'never'] as const)(
    'lose a block, with a StoreError, when the answer is %s',
    async (how) => {
      const client = newClient(1);
      const [store, hasty] = [open(client), open(client, 1000)];
      const name = `lost ${how}`;
      await store.defineSequence({ name, blockSize: 10 });
      // From here on its calls are one request each.
      await expect.poll(async () => (await hasty.describeSequence(name)).next).toBe(1n);
      const lost = loseAnswer('UpdateItem', { how });
      const failure = await hasty.allocate(name, 1).catch((error) => error);
      expect(failure).toBeInstanceOf(StoreError);
      expect(failure.message).toMatch(/^dynamodb store: changing sequence "lost \w+" of table ids failed: ./);
      await expect.poll(() => lost.count).toBe(1);
      expect(await store.allocate(name, 1)).toMatchObject({ first: 11n });
    },
  );
});
