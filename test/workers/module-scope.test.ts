import { describe, expect, it } from 'vitest';
import { ask, startWorker } from './worker.ts';

const KEY = '2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94';

/** What a program does while the module loads, where a Worker has no clock, no random numbers and no timers; and at a request. */
const ENTRIES: Record<string, { imports: string; atLoad: string; atRequest: string; wanted: unknown }> = {
  'idsmith, flakes with a fixed node': {
    imports: `import { FlakeGenerator } from 'idsmith';`,
    atLoad: `const ids = new FlakeGenerator({ node: 1 });`,
    atRequest: `const many = [ids.next(), await ids.nextAsync(), ...ids.batch(1000)]; await ids.ready();
      return new Set(many).size;`,
    wanted: 1002,
  },
  'idsmith, locality UUIDs': {
    imports: `import { LocalityGenerator, LocalityUuid } from 'idsmith';`,
    atLoad: `const ids = new LocalityGenerator(); const sequential = new LocalityGenerator({ mode: 'sequential', node: 'random' });`,
    atRequest: `const seed = new LocalityGenerator({ mode: 'sequential', node: 'random' });
      return [new Set([...ids.batch(1000), ids.next(), String(new LocalityUuid())]).size, sequential.next().slice(0, 6) === seed.next().slice(0, 6)];`,
    // A sequential generator begins at the seed of its first id, not of 1970, the time that a module is told.
    wanted: [1002, true],
  },
  'idsmith, UUIDs of version 7': {
    imports: `import { Uuid7Generator } from 'idsmith';`,
    atLoad: `const ids = new Uuid7Generator();`,
    atRequest: `return new Set([...ids.batch(1000), ids.next()]).size;`,
    wanted: 1001,
  },
  'idsmith, sequences and leases in memory': {
    imports: `import { acquireLease, FlakeGenerator, memoryStore, Sequences } from 'idsmith';`,
    atLoad: `const store = memoryStore(); const sequences = new Sequences(store);`,
    atRequest: `await sequences.ensure('x'); const lease = await acquireLease(store, { namespace: 'n', size: 4 });
      const ids = new FlakeGenerator({ node: lease }); const minted = ids.batch(10).length;
      await ids.close(); await lease.release();
      const numbers = await sequences.get('x');
      return [minted, String(await numbers.next())];`,
    wanted: [10, '1'],
  },
  'idsmith/uuid7': {
    imports: `import { uuid7 } from 'idsmith/uuid7';`,
    atLoad: `const bound = uuid7.min(0);`,
    atRequest: `return uuid7() > bound && uuid7() < uuid7();`,
    wanted: true,
  },
  'idsmith/typeid': {
    imports: `import { typeIds } from 'idsmith/typeid';`,
    atLoad: `const users = typeIds('user');`,
    atRequest: `return users.next() < users.next();`,
    wanted: true,
  },
  'idsmith/public': {
    imports: `import { publicIds } from 'idsmith/public';`,
    atLoad: `const orders = publicIds({ prefix: 'ord', keys: { 1: '${KEY}' } }); const text = orders.encode(5n);`,
    atRequest: `return String(orders.decode(text));`,
    wanted: '5',
  },
  'idsmith/inspect': {
    imports: `import { inspect } from 'idsmith/inspect';`,
    atLoad: `const [first] = inspect('019b7c4e-94ce-7ba1-9d1c-21f1a6a6c9e8');`,
    atRequest: `return first.family;`,
    wanted: 'uuid',
  },
  'idsmith/schema': {
    imports: `import { sequenceSchema } from 'idsmith/schema';`,
    atLoad: `const schema = sequenceSchema();`,
    atRequest: `return String(schema['~standard'].validate('10001').value);`,
    wanted: '10001',
  },
  'idsmith/stores/http': {
    imports: `import { httpStore } from 'idsmith/stores/http';`,
    atLoad: `const store = httpStore('http://127.0.0.1:2');`,
    atRequest: `return store.listLeases('x').then(() => 'answered', ({ code }) => code);`,
    wanted: 'STORE',
  },
  '@idsmith/shard/ring': {
    imports: `import { HashRing } from '@idsmith/shard/ring';`,
    atLoad: `const ring = new HashRing({ a: 1 });`,
    atRequest: `return ring.nodeOf('x');`,
    wanted: 'a',
  },
};

describe('A Worker that makes its objects while its module loads', () => {
  it.each(Object.entries(ENTRIES))('starts with %s', async (_, { imports, atLoad, atRequest, wanted }) => {
    const worker = await startWorker(`${imports}
      ${atLoad}
      const answer = async () => { ${atRequest} };
      export default { fetch: async () => Response.json(await answer()) };`);
    try {
      expect(await ask(worker)).toEqual(wanted);
      // The second request has another context, in which nothing of the first may be used.
      await expect(ask(worker)).resolves.toBeDefined();
    } finally {
      await worker.dispose();
    }
  });
});

// In production the clock of a Worker stands still while a request computes. `workerd` on a machine of one's own lets it run.
describe('A Worker whose clock stands still', () => {
  it('mints more ids at one request than a millisecond has places', async () => {
    const worker = await startWorker(`
      import { acquireLease, FlakeGenerator, LocalityGenerator, memoryStore, Uuid7Generator } from 'idsmith';
      import { uuid7 } from 'idsmith/uuid7';
      import { typeIds } from 'idsmith/typeid';
      const users = typeIds('user');
      const minters = {
        uuid7: () => Array.from({ length: 50_000 }, () => uuid7()),
        typeid: () => Array.from({ length: 50_000 }, () => users.next()),
        generator: () => new Uuid7Generator().batch(50_000),
        locality: () => new LocalityGenerator().batch(50_000),
      };
      export default {
        async fetch() {
          const now = Date.now();
          Date.now = () => now;
          const counts = {};
          for (const [name, mint] of Object.entries(minters)) counts[name] = new Set(mint()).size;
          const lease = await acquireLease(memoryStore(), { namespace: 'n', size: 4 });
          const flakes = new FlakeGenerator({ node: lease, onFull: 'borrow' });
          counts.flakes = new Set(flakes.batch(50_000)).size;
          await lease.release();
          const fixed = new FlakeGenerator({ node: 1 });
          counts.fixed = fixed.batch(8192).length;
          try { fixed.next(); } catch ({ code }) { counts.next = code; }
          return Response.json(counts);
        },
      };`);
    try {
      const each = { uuid7: 50_000, typeid: 50_000, generator: 50_000, locality: 50_000, flakes: 50_000 };
      // Nobody knows whether another process minted the next ticks of a fixed node.
      expect(await ask(worker)).toEqual({ ...each, fixed: 8192, next: 'CLOCK' });
    } finally {
      await worker.dispose();
    }
  });
});
