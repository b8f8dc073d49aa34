import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisCluster, type RedisServer, startRedis, startRedisCluster } from '#services';
import { depth } from '../../../../test/depth.ts';
import { seededRandom } from '../../../verify/src/random.ts';
import { ClusterField, RingField } from '../../../verify/src/runs/reshard/fault-field.ts';
import {
  CLUSTER_ROUNDS,
  FaultRound,
  ROUNDS,
  type RoundResult,
} from '../../../verify/src/runs/reshard/fault-round.ts';

const startServers = (count: number) =>
  Promise.all(Array.from({ length: count }, () => startRedis({ persistence: 'aof' })));

function expectNoProblem({ problems, reads, writes, minted, faults }: RoundResult): void {
  expect(problems.join('\n'), JSON.stringify(faults)).toBe('');
  expect(Math.min(reads, writes, minted)).toBeGreaterThan(20);
  expect(Object.keys(faults).length).toBeGreaterThan(1);
}

await describeWith(['redis'], 'Resharding while applications go on and nodes fail', () => {
  let servers: RedisServer[] = [];

  beforeAll(async () => {
    servers = await startServers(6);
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  it.each(ROUNDS)(
    'loses no acknowledged write and misplaces no key: %s',
    async (kind) => {
      expectNoProblem(await new FaultRound(kind, new RingField(servers), seededRandom(1), 300).run());
    },
    400_000,
  );
});

await describeWith(['redis'], 'Resharding to a Redis Cluster while applications go on and nodes fail', () => {
  let servers: RedisServer[] = [];
  let cluster: RedisCluster;

  beforeAll(async () => {
    [servers, cluster] = await Promise.all([startServers(3), startRedisCluster({ persistence: 'aof' })]);
  });
  afterAll(() => Promise.all([...servers, cluster].map((server) => server?.stop())));

  /** What differs from a ring; `npm run test:long` has every round. */
  const rounds = CLUSTER_ROUNDS.filter((kind) => depth > 0 || kind === 'restarts' || kind === 'moving slots');
  it.each(rounds)(
    'loses no acknowledged write and misplaces no key: %s',
    async (kind) => {
      const field = new ClusterField(servers, cluster);
      expectNoProblem(await new FaultRound(kind, field, seededRandom(1), 200).run());
    },
    400_000,
  );
});
