import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import type { Miniflare } from 'miniflare';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, startWorker } from './worker.ts';

const STORES = {
  D1: {
    imports: `import { d1Store } from 'idsmith/stores/cloudflare';`,
    make: 'd1Store(env.DB)',
    options: { d1Databases: { DB: 'ids' } },
  },
  'a Durable Object': {
    imports: `import { durableObjectStore } from 'idsmith/stores/cloudflare';
      export { IdStoreObject } from 'idsmith/stores/cloudflare';`,
    make: `durableObjectStore(env.IDS.get(env.IDS.idFromName('ids')))`,
    options: { durableObjects: { IDS: { className: 'IdStoreObject', useSQLite: true } } },
  },
};

/** A Worker that runs a case of the conformance suites at each request, and other things on its store. */
const programOf = ({ imports, make }: { imports: string; make: string }) => `
  import { acquireLease, FlakeGenerator } from 'idsmith';
  import { connect } from 'idsmith/connect';
  import { markRestored } from 'idsmith/stores';
  import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
  ${imports}
  const routes = {
    async '/case'(env, n) {
      const store = ${make};
      const cases = [...leaseStoreCases(() => store), ...sequenceStoreCases(() => store)];
      await cases[n].run();
      return cases[n].name;
    },
    async '/numbers'(env) {
      const ids = await connect(${make});
      const sequence = await ids.sequence('orders', { define: { start: 1000 } });
      const numbers = [];
      for (let i = 0; i < 25; i++) numbers.push(String(await sequence.next()));
      await ids.close();
      return numbers;
    },
    async '/invoices'(env) {
      const ids = await connect(${make});
      const invoices = await ids.series('invoices', { format: 'INV-{yyyy}-{n:6}' });
      const number = await invoices.next();
      await ids.close();
      return number;
    },
    async '/flakes'(env) {
      const store = ${make};
      const ids = await FlakeGenerator.lease(store, { namespace: 'flakes' });
      const many = ids.batch(100).map(String);
      await ids.close();
      return many;
    },
    async '/restored'(env) {
      const store = ${make};
      await store.defineSequence({ name: 'restored', blockSize: 10 });
      const { first } = await store.allocate('restored', 5);
      const { sequences } = await markRestored(store);
      const { next } = sequences.find(({ name }) => name === 'restored');
      const again = await store.allocate('restored', 1);
      return { first: Number(first), next: Number(next), again: Number(again.first) };
    },
    async '/schema'(env) {
      return (${make}).schemaVersion();
    },
  };
  export default {
    async fetch(request, env) {
      const { pathname, searchParams } = new URL(request.url);
      try {
        return Response.json(await routes[pathname](env, Number(searchParams.get('n'))));
      } catch (error) {
        return new Response(error.stack, { status: 500 });
      }
    },
  };`;

const names = [
  ...leaseStoreCases(() => undefined as never),
  ...sequenceStoreCases(() => undefined as never),
].map(({ name }) => name);

describe.each(Object.entries(STORES))('A store in %s', (_, kind) => {
  let worker: Miniflare;
  beforeAll(async () => {
    worker = await startWorker(programOf(kind), kind.options);
  });
  afterAll(() => worker?.dispose());

  it.each(names.map((name, n) => [name, n] as const))('%s', async (name, n) => {
    expect(await ask(worker, `/case?n=${n}`)).toBe(name);
  });

  it('gives out each number once to requests that come at once', async () => {
    const lists = await Promise.all(Array.from({ length: 8 }, () => ask<string[]>(worker, '/numbers')));
    expect(new Set(lists.flat()).size).toBe(200);
  });

  it('gives out each printed number once', async () => {
    const numbers = await Promise.all(Array.from({ length: 8 }, () => ask<string>(worker, '/invoices')));
    expect(new Set(numbers).size).toBe(8);
    expect(numbers[0]).toMatch(/^INV-\d{4}-\d{6}$/);
  });

  it('leases a node id of its own to each request', async () => {
    const lists = await Promise.all(Array.from({ length: 8 }, () => ask<string[]>(worker, '/flakes')));
    expect(new Set(lists.flat()).size).toBe(800);
  });

  it('moves sequences beyond their ceilings when a person says that it was restored', async () => {
    expect(await ask(worker, '/restored')).toEqual({ first: 1, next: 10_001, again: 10_001 });
  });

  it('is marked with the version of its data', async () => {
    expect(await ask(worker, '/schema')).toMatchObject({ version: 1 });
  });
});

describe('A wrong configuration is named', () => {
  it.each([
    [
      'a session of D1, which may read a replica',
      'd1Store(env.DB.withSession())',
      'the binding itself, env.DB',
    ],
    ['no binding at all', 'd1Store(env.MISSING)', 'a D1 binding, such as env.DB'],
    ['the namespace of objects', 'durableObjectStore(env.IDS)', 'the stub of a Durable Object'],
  ])('%s', async (_, make, message) => {
    const { imports } = STORES['a Durable Object'];
    const worker = await startWorker(
      `${imports} import { d1Store } from 'idsmith/stores/cloudflare';
      export default { fetch(request, env) { try { ${make}; } catch (error) { return Response.json(error.message); } } };`,
      { ...STORES.D1.options, ...STORES['a Durable Object'].options },
    );
    expect(await ask(worker)).toContain(message);
    await worker.dispose();
  });
});
