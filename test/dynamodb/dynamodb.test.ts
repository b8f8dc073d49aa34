import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { acquireLease, ClockError } from 'idsmith';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamodbStore } from '../../packages/idsmith/src/stores/dynamodb/store.ts';
import { inLockstep } from '../../packages/idsmith/test/stores/support/lockstep.ts';
import { drain, notBeside, scramble } from '../../packages/idsmith/test/stores/support/runs.ts';
import { runChaos, showChaosReport } from '../../packages/verify/src/runs/chaos.ts';
import { behindProxy } from '../../packages/verify/src/runs/trial-store.ts';
import { CHAOS_STORES } from '../../packages/verify/test/support/private-stores.ts';
import type { ServerProcess } from '../services/process.ts';
import { startDynamodbLocal } from './dynamodb-local.ts';

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });

describe("The DynamoDB store on Amazon's DynamoDB Local", () => {
  let server: ServerProcess;
  const clients: DynamoDBClient[] = [];

  beforeAll(async () => {
    server = await startDynamodbLocal();
  });
  afterAll(async () => {
    for (const client of clients) client.destroy();
    await server?.stop();
  });

  function open(table: string) {
    const client = new DynamoDBClient({ region: 'eu-west-1', endpoint: server.url, credentials });
    clients.push(client);
    return dynamodbStore(client, { table, timeout: 60_000 });
  }
  const openMany = (count: number, table: string) => Array.from({ length: count }, () => open(table));

  for (const { name, run } of leaseStoreCases(() => open('conformance'))) it(name, run);
  for (const { name, run } of sequenceStoreCases(() => open('conformance'))) it(name, run);

  it('makes the table once when twenty start at once', async () => {
    const held = { owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: '' };
    const stores = openMany(20, 'twenty');
    await Promise.all(stores.map((store, id) => store.swapLease('start', undefined, { ...held, id })));
    expect(await stores[0]!.listLeases('start')).toHaveLength(20);
  });

  it('has the clock of the service, and gives no lease to a clock that is years ahead', async () => {
    const store = open('clock');
    expect(Math.abs((await store.now!()) - Date.now())).toBeLessThan(5000);
    const clock = { now: () => Date.now() + 50 * 365 * 86_400_000 };
    await expect(acquireLease(store, { namespace: 'ahead', size: 8, clock })).rejects.toThrow(ClockError);
  });

  it('gives blocks to sixteen clients without gap or repetition', async () => {
    const stores = openMany(16, 'sequences');
    await stores[0]!.defineSequence({ name: 'hot', blockSize: 7 });
    const blocks = await drain(stores, 'hot', 16);
    expect(notBeside(blocks, 'overlap')).toEqual([]);
    expect(notBeside(blocks, 'gap')).toEqual([]);
  });

  it('repeats nothing while clients allocate, give back and alter at once', async () => {
    const stores = openMany(8, 'sequences');
    await stores[0]!.defineSequence({ name: 'scrambled' });
    const blocks = await scramble(stores, 'scrambled', 8);
    expect(notBeside(blocks, 'overlap')).toEqual([]);
  });

  it('has sequences as they are in memory, whatever is done to them', async () => {
    await inLockstep(openMany(3, 'lockstep'), 10);
  });

  it('keeps everything when it is killed and started again', async () => {
    const store = open('killed');
    await store.defineSequence({ name: 'orders', blockSize: 10 });
    const first = await store.allocate('orders', 1);
    await server.kill();
    await server.start();
    expect((await store.allocate('orders', 1)).first).toBe(first.first + 10n);
  });
});

describe("Processes that mint with leases from Amazon's DynamoDB Local", () => {
  it('never hand out an id twice in a minute of faults, and go on afterwards', {
    timeout: 300_000,
  }, async () => {
    const start = async () =>
      behindProxy(await startDynamodbLocal(), (url) => `dynamodb://eu-west-1/chaos?endpoint=${url}`);
    const report = await runChaos(
      'dynamodb-local',
      { ...CHAOS_STORES.dynamodb, start },
      { seed: 20_261_116, seconds: 60 },
    );
    expect(report.problems, showChaosReport(report)).toEqual([]);
    expect(report.ids).toBeGreaterThan(1000);
    console.log(showChaosReport(report));
  });
});
