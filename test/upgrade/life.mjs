// What a release does with a store, so that something is in it, and what it has given out.

/** The URL with which releases open a store. The data of a Redis that is not durable is not trusted by another server. */
export const urlFor = (name, url) => (name === 'redis' ? `${url}?durable=true` : url);

/** @param idsmith the exported names of a release */
export async function live({ openStore, acquireLease, FlakeGenerator, Sequences }, url) {
  const store = await openStore(url);
  const sequences = new Sequences(store);
  await sequences.define('orders', { start: 10_000, blockSize: 10 });
  await sequences.define('countdown', { start: -5, step: -5, min: -1000, blockSize: 4 });
  await sequences.define('large', { start: 9_007_199_254_740_993n });
  await sequences.define('round and round', { start: 1, cycle: true, max: 30 });
  const given = {};
  for (const name of ['orders', 'countdown', 'large', 'round and round']) {
    const sequence = await sequences.get(name);
    given[name] = (await sequence.batch(25)).map(String);
  }
  await sequences.close();

  const leases = [];
  for (let i = 0; i < 3; i++) {
    leases.push(await acquireLease(store, { namespace: 'orders', size: 512, label: 'kept' }));
  }
  given.flakes = [];
  for (const lease of leases) {
    const flakes = new FlakeGenerator({ node: lease });
    given.flakes.push(...Array.from({ length: 20 }, () => String(flakes.next())));
  }
  // One was released and two were not, as after a crash.
  await leases[1].release();
  await store.close();
  return given;
}
