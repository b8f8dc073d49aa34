import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { seededRandom } from '../../../../../test/chaos/random.ts';
import { FaultRound, ROUNDS } from './faults-under-load.ts';

await describeWith(['redis'], 'Resharding while applications go on and nodes fail', () => {
  let servers: RedisServer[] = [];

  beforeAll(async () => {
    servers = await Promise.all(Array.from({ length: 6 }, () => startRedis({ persistence: 'aof' })));
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  it.each(ROUNDS)(
    'loses no acknowledged write and misplaces no key: %s',
    async (kind) => {
      const result = await new FaultRound(kind, servers, seededRandom(1), 300).run();
      expect(result.problems).toEqual([]);
      expect(Math.min(result.reads, result.writes, result.minted)).toBeGreaterThan(20);
      expect(Object.keys(result.faults).length).toBeGreaterThan(1);
    },
    120_000,
  );
});
