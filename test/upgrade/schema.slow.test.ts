import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LeaseRecord, Store } from 'idsmith';
import { openStore } from 'idsmith/stores';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith, STORE_SERVERS, type StoreServer } from '#services';
import { DUMPS, urlFor } from './dumps.ts';
import { contentOf, MARKERS } from './markers.ts';

const released = (file: string) => fileURLToPath(new URL(`releases/0.1.0/${file}`, import.meta.url));

/** Stores that have tables are marked when a table is made. All others are marked when the first record is written. */
const HAS_TABLES = ['postgres', 'mariadb'];

const RECORD: LeaseRecord = {
  id: 500,
  owner: 'o',
  epoch: 1,
  fence: 1,
  expiresAt: 1,
  label: '',
};

for (const [name, needs, start] of STORE_SERVERS) {
  await describeWith(needs, `The schema version of a ${name} store`, () => {
    const marker = MARKERS[name] as (typeof MARKERS)[string];
    const dump = DUMPS[name] as (typeof DUMPS)[string];
    let server: StoreServer;
    let url: string;
    beforeEach(async () => {
      server = await start();
      url = urlFor(name, server.url);
    });
    afterEach(() => server.stop());

    it('is marked once when many processes set the store up at the same time', async () => {
      const program = fileURLToPath(new URL('set-up.mjs', import.meta.url));
      const run = (sequence: string) => promisify(execFile)(process.execPath, [program, url, sequence]);
      const outputs = await Promise.all(['a', 'b', 'c', 'd'].map(run));
      for (const { stdout } of outputs)
        expect(JSON.parse(stdout)).toEqual({ first: '1', version: 1, leastReader: 1 });
      expect(await marker.read(server.url)).toEqual([1, 1]);
    });

    it('is 1 in a store of release 0.1.0, which has no marker and goes on', async () => {
      await dump.restore(server.url, released(dump.file));
      await using store = await openStore(url);
      expect(await store.schemaVersion?.()).toEqual({ version: 1, leastReader: 1 });
      await store.listLeases('orders');
      // A Redis is marked with its registry, which tells new names from lost ones.
      if (name !== 'redis') expect(await marker.read(server.url)).toBeUndefined();
      await store.defineSequence({ name: 'new' });
      expect(await store.swapLease('new', undefined, RECORD)).toBe(true);
      expect(await marker.read(server.url)).toEqual(HAS_TABLES.includes(name) ? undefined : [1, 1]);
    });

    it('refuses every call where the store needs a later library, and changes nothing', async () => {
      await dump.restore(server.url, released(dump.file));
      await marker.write(server.url, [9, 8]);
      const before = await contentOf(name, server.url);
      const calls: ((store: Store) => unknown)[] = [
        (store) => store.now?.(),
        (store) => store.listLeases('orders'),
        (store) => store.swapLease('orders', undefined, RECORD),
        (store) => store.defineSequence({ name: 'new' }),
        (store) => store.allocate('orders', 1),
        (store) => store.schemaVersion?.(),
      ];
      for (const call of calls) {
        await using store = await openStore(url);
        const error = await Promise.resolve(call(store)).then(String, (reason) => reason);
        expect(error.code).toBe('STORE');
        expect(error.message).toMatch(
          /has schema version 9 .* knows version 8\. This idsmith knows version 1: upgrade idsmith/,
        );
      }
      expect(await contentOf(name, server.url)).toBe(before);
      await using store = await openStore(url);
      await expect(store.listLeases('orders')).rejects.toThrow('schema version 9');
      // The same object goes on once it may.
      await marker.write(server.url, [9, 1]);
      expect((await store.listLeases('orders')).length).toBeGreaterThan(0);
      expect(await store.schemaVersion?.()).toEqual({ version: 9, leastReader: 1 });
    });

    it('refuses an empty store that a later library has marked, and creates nothing there', async () => {
      if (name === 'dynamodb') {
        // A marker needs the table.
        await using store = await openStore(url);
        await store.listLeases('orders');
      }
      await marker.write(server.url, [2, 2]);
      const before = await contentOf(name, server.url);
      await using store = await openStore(url);
      await expect(store.listLeases('orders')).rejects.toThrow('schema version 2');
      await expect(store.defineSequence({ name: 'new' })).rejects.toThrow('schema version 2');
      expect(await contentOf(name, server.url)).toBe(before);
    });
  });
}
