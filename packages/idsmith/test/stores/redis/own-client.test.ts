import { expect, it } from 'vitest';
import { OwnRedisClient } from '../../../src/stores/redis/own-client.ts';

/** Connections that are lost as soon as they can be used. */
function shortLived(limit: number) {
  const counts = { begun: 0 };
  const begin = () => {
    if (++counts.begun > limit) throw new Error('too many connections');
    return {
      ready: Promise.resolve(),
      connection: { isUp: false, evaluate: async () => 'never', end: () => {} },
    };
  };
  return { counts, client: new OwnRedisClient(begin, 1000) };
}

it('a call gives up when its new connection is lost at once, and does not connect again and again', async () => {
  const { counts, client } = shortLived(10);
  await expect(client.evaluate('EVAL', '', [], [])).rejects.toThrow('the connection was lost at once');
  expect(counts.begun).toBe(1);
  await expect(client.evaluate('EVAL', '', [], [])).rejects.toThrow('the connection was lost at once');
  expect(counts.begun).toBe(2);
});
