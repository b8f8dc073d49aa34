import { openStore } from 'idsmith/stores';
import { expect, it } from 'vitest';
import { describeWith } from './describe-with.ts';
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
