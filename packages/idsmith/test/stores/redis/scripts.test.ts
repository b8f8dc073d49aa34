import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { describeWith, startRedis } from '#services';
import * as scripts from '../../../src/stores/redis/scripts.ts';

await describeWith(['redis'], 'The Lua scripts of the store', () => {
  it('all compile', async () => {
    const server = await startRedis();
    const client = new Redis(server.url);
    for (const [name, script] of Object.entries(scripts))
      expect(await client.script('LOAD', script), name).toMatch(/^[0-9a-f]{40}$/);
    client.disconnect();
    await server.stop();
  });
});
