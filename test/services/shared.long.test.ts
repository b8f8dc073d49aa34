import { openStore } from 'idsmith/stores';
import { Client, Pool } from 'pg';
import { expect, it } from 'vitest';
import { describeWith } from './describe-with.ts';
import { startPostgres } from './postgres.ts';
import { shared } from './shared.ts';
import { SHARED_STORES } from './store-servers.ts';

for (const [name, needs, start] of SHARED_STORES) {
  await describeWith(needs, `Files that share ${name}`, () => {
    it('have places of their own', async () => {
      const places = await Promise.all([start(), start()]);
      const [one, two] = await Promise.all(places.map(({ url }) => openStore(url)));
      await one!.defineSequence({ name: 'orders' });
      expect((await one!.listSequences()).map((info) => info.name)).toEqual(['orders']);
      expect(await two!.listSequences()).toEqual([]);
      await Promise.all([one!.close(), two!.close()]);
      await Promise.all(places.map((place) => place.stop()));
    });
  });
}

await describeWith(['postgres'], 'PostgreSQL', () => {
  // `pool.end()` of pg returns before its connections are closed, and one that is cut off then is an error that nobody listens to.
  it.each([
    ['a place in a shared server', 6, () => shared('postgres')],
    ['a server of its own', 2, () => startPostgres()],
  ] as const)('is there for connections that are about to end: %s', async (_, rounds, start) => {
    const errors: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const place = await start();
      const pool = new Pool({ connectionString: place.url, max: 8 });
      pool.on('error', (error) => errors.push(error.message));
      await Promise.all(Array.from({ length: 8 }, () => pool.query('SELECT pg_sleep(0.01)')));
      await pool.end();
      await place.stop();
    }
    expect(errors).toEqual([]);
  });

  it('goes, nevertheless, when a test has left a connection open', async () => {
    for (const place of [await shared('postgres'), await startPostgres()]) {
      const client = new Client({ connectionString: place.url });
      await client.connect();
      const cutOff = new Promise((resolve) => client.on('error', resolve));
      await place.stop();
      expect(await cutOff).toMatchObject({ code: '57P01' });
    }
  });
});
