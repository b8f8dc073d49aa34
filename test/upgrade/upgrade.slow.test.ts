import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as core from 'idsmith';
import { openStore } from 'idsmith/stores';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith, STORE_SERVERS, type StoreServer } from '#services';
import { DUMPS, urlFor } from './dumps.ts';

const releases = fileURLToPath(new URL('releases/', import.meta.url));

/** The ids of each sequence that a release has given out, and its flakes. */
type Given = Readonly<Record<string, readonly string[]>>;

for (const version of readdirSync(releases)) {
  const fileOf = (name: string) => join(releases, version, name);
  const given: Record<string, Given> = JSON.parse(readFileSync(fileOf('given.json'), 'utf8'));

  for (const [name, needs, start] of STORE_SERVERS) {
    await describeWith(needs, `A ${name} store that version ${version} has filled`, () => {
      const before = given[name] as Given;
      let server: StoreServer;
      let url: string;
      beforeEach(async () => {
        server = await start();
        url = urlFor(name, server.url);
        const dump = DUMPS[name] as (typeof DUMPS)[string];
        await dump.restore(server.url, fileOf(dump.file));
      });
      afterEach(() => server.stop());

      it('goes on with this version', async () => {
        await using store = await openStore(url);
        await using sequences = new core.Sequences(store);
        for (const [sequence, step] of [
          ['orders', 1n],
          ['countdown', -5n],
          ['large', 1n],
        ] as const) {
          const last = BigInt(before[sequence]?.at(-1) as string);
          const ids = await (await sequences.get(sequence)).batch(30);
          expect(ids[0]).toBe(last + step);
          expect(ids[29]).toBe(last + 30n * step);
        }
        const around = await (await sequences.get('round and round')).batch(30);
        expect(around.every((id) => id >= 1n && id <= 30n)).toBe(true);

        const flakes = await core.FlakeGenerator.lease(store, {
          namespace: 'orders',
          layout: core.layouts.jflake,
        });
        expect(before.flakes).not.toContain(flakes.nextString());
        await flakes.close();
        // What the older version has written is known: the layout of the namespace, and how often a node id was held.
        await expect(
          core.acquireLease(store, { namespace: 'orders', layout: core.layouts.snowflake }),
        ).rejects.toThrow('layout');
        const records = await store.listLeases('orders');
        expect(records.filter(({ id }) => id >= 0).length).toBeGreaterThanOrEqual(3);
      });
    });
  }
}
