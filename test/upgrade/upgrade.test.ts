import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as core from 'idsmith';
import { openStore } from 'idsmith/stores';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith, STORE_SERVERS, type StoreServer } from '#services';
import { DUMPS } from './dumps.ts';
import { type Given, type Release, urlFor } from './life.mjs';

const releases = fileURLToPath(new URL('releases/', import.meta.url));
const present: Release = { ...core, openStore };

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
          ...{ namespace: 'orders', layout: core.layouts.jflake },
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

      it('serves both versions side by side', async () => {
        const older: Release = await import(fileOf('idsmith.mjs'));
        const seen = new Set([...(before.orders as string[]), ...(before.flakes as string[])]);
        const take = (ids: readonly bigint[]) => {
          for (const id of ids) {
            expect(seen.has(String(id)), `the id ${id} came before`).toBe(false);
            seen.add(String(id));
          }
        };
        const sides = await Promise.all(
          [older, present, older, present].map((release) => enter(release, url)),
        );
        for (let round = 0; round < 5; round++) {
          for (const side of sides) {
            take(await side.sequence.batch(13));
            take(Array.from({ length: 50 }, () => side.flakes.next()));
          }
        }
        expect(new Set(sides.map(({ lease }) => lease.id)).size).toBe(sides.length);
        for (const side of sides) await side.leave();

        const [first, second] = [await enter(present, url), await enter(older, url)];
        take([
          first.flakes.next(),
          second.flakes.next(),
          await first.sequence.next(),
          await second.sequence.next(),
        ]);
        for (const side of [first, second]) await side.leave();
      });
    });
  }
}

/** A process of a release, as far as the store can tell. */
async function enter({ acquireLease, FlakeGenerator, Sequences, openStore }: Release, url: string) {
  const store = await openStore(url);
  const sequences = new Sequences(store);
  const lease = await acquireLease(store, { namespace: 'orders', size: 512, label: 'side by side' });
  return {
    lease,
    flakes: new FlakeGenerator({ node: lease }),
    sequence: await sequences.get('orders'),
    async leave() {
      await lease.release();
      await sequences.close();
      await store.close();
    },
  };
}
