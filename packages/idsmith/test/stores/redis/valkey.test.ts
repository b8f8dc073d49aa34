import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeAt } from '#services';
import { initStore } from '../../../src/stores/init.ts';
import { openStore } from '../../../src/stores/open.ts';
import type { Store } from '../../../src/stores/store.ts';
import { drain, notBeside, scramble } from '../support/runs.ts';

// A Valkey server of your own, or any that speaks the protocol of Redis. Name a database that is empty: the tests leave keys with random
// names behind.
describeAt('VALKEY_URL', 'The Redis store', (url) => {
  describe.each([
    ['that may forget', 'maxTtl=2000'],
    ['that is durable', 'durable=true'],
  ])('%s', (_kind, setting) => {
    let stores: Store[];
    const store = () => stores[0] as Store;
    beforeAll(async () => {
      const withSetting = `${url}${url.includes('?') ? '&' : '?'}${setting}`;
      stores = await Promise.all(Array.from({ length: 8 }, () => openStore(withSetting)));
      await initStore(store());
    });
    afterAll(() => Promise.all((stores ?? []).map((store) => store.close())));

    for (const { name, run } of leaseStoreCases(store)) it(name, run);
    for (const { name, run } of sequenceStoreCases(store)) it(name, run);

    it('gives blocks to eight clients without gap or repetition', async () => {
      const name = `hot ${crypto.randomUUID()}`;
      await store().defineSequence({ name, blockSize: 7 });
      const blocks = await drain(stores, name, 50);
      expect(notBeside(blocks, 'overlap')).toEqual([]);
      expect(notBeside(blocks, 'gap')).toEqual([]);
    });

    it('repeats nothing while clients allocate, give back and alter at once', async () => {
      const name = `scrambled ${crypto.randomUUID()}`;
      await store().defineSequence({ name });
      expect(notBeside(await scramble(stores, name, 20), 'overlap')).toEqual([]);
    });
  });
});
