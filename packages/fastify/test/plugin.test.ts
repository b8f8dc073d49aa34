import fastify, { type FastifyInstance } from 'fastify';
import {
  ClosedError,
  type FlakeGenerator,
  InvalidOptionError,
  memoryStore,
  type Sequence,
  type Store,
  StoreError,
} from 'idsmith';
import { connect } from 'idsmith/connect';
import { afterEach, describe, expect, it } from 'vitest';
import { type IdsmithOptions, idsmith } from '../src/index.ts';

const apps: FastifyInstance[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

function appWith(options: IdsmithOptions): FastifyInstance {
  const app = fastify();
  apps.push(app);
  app.register(idsmith, options);
  return app;
}

/** The owners of the node ids that were ever held. */
const ownersIn = async (store: Store, namespace: string) =>
  (await store.listLeases(namespace)).filter(({ id }) => id >= 0).map(({ owner }) => owner);

declare module '../src/plugin.ts' {
  interface IdGenerators {
    orders: FlakeGenerator<'string'>;
    invoices: Sequence;
  }
}

describe('The Fastify plugin', () => {
  it('opens generators by name, which handlers use without waiting', async () => {
    const store = memoryStore();
    const app = appWith({
      store,
      generators: {
        orders: { flakes: { as: 'string' } },
        invoices: { sequence: { define: { start: 5 } } },
        logs: (ids) => ids.uuid7('logs'),
      },
    });
    app.post('/orders', async () => ({
      id: app.ids.orders.next(),
      number: String(await app.ids.invoices.next()),
    }));
    const answer = await app.inject({ method: 'POST', url: '/orders' });
    expect(answer.json()).toEqual({ id: expect.stringMatching(/^\d+$/), number: '5' });
    expect(app.ids.orders).toBe(await app.ids.flakes('orders', { as: 'string' }));
    const { ids } = app;
    await app.close();
    expect(Object.keys(ids)).not.toContain('orders');
    expect(await ownersIn(store, 'jflake')).toEqual([null]);
  });

  it('gives nothing but ids if a generator cannot be opened, and holds nothing then', async () => {
    const store = memoryStore();
    const generators = { orders: { flakes: {} }, invoices: { sequence: {} } };
    await expect(appWith({ store, generators }).ready()).rejects.toThrow('there is no sequence "invoices"');
    expect((await ownersIn(store, 'jflake')).filter((owner) => owner !== null)).toEqual([]);
  });

  it('gives ids to the server and to its other plugins', async () => {
    const app = appWith({ store: 'memory:', open: (ids) => ids.flakes('orders') });
    app.register(async (child) => {
      child.post('/orders', async () => ({ id: String((await child.ids.flakes('orders')).next()) }));
    });
    const answers = [
      await app.inject({ method: 'POST', url: '/orders' }),
      await app.inject({ method: 'POST', url: '/orders' }),
    ];
    const [first, second] = answers.map((answer) => BigInt(answer.json().id));
    expect(second).toBeGreaterThan(first as bigint);
  });

  it('opens before the server is ready, and releases when it closes', async () => {
    const store = memoryStore();
    const app = appWith({ store, label: 'shop-1', open: (ids) => ids.flakes('orders') });
    await app.ready();
    expect(app.ids.status().leases).toMatchObject([
      { namespace: 'jflake', names: ['orders'], state: 'active' },
    ]);
    expect(await store.listLeases('jflake')).toContainEqual(
      expect.objectContaining({ label: 'shop-1 orders' }),
    );
    const orders = await app.ids.flakes('orders');
    await app.close();
    expect(() => orders.next()).toThrow(ClosedError);
    expect(await ownersIn(store, 'jflake')).toEqual([null]);
  });

  it('lets a request that is under way mint while the server closes', async () => {
    const store = memoryStore();
    const app = appWith({ store, open: (ids) => ids.flakes('orders') });
    let arrived = () => {};
    let goOn = () => {};
    const isHere = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    app.get('/slow', async () => {
      arrived();
      await gate;
      return { id: String((await app.ids.flakes('orders')).next()) };
    });
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    const answer = fetch(`${address}/slow`, { headers: { connection: 'close' } });
    await isHere;
    const closed = app.close();
    await new Promise((resolve) => setImmediate(resolve));
    goOn();
    expect(await (await answer).json()).toEqual({ id: expect.stringMatching(/^\d+$/) });
    await closed;
    expect(await ownersIn(store, 'jflake')).toEqual([null]);
  });

  it('answers a readiness probe by the state of the leases', async () => {
    const app = appWith({ store: 'memory:', open: (ids) => ids.flakes('orders'), readiness: '/readyz' });
    const probe = () => app.inject('/readyz');
    expect((await probe()).json()).toEqual({ ready: true });
    (await app.ids.flakes('orders')).lease?.fence();
    const fenced = await probe();
    expect([fenced.statusCode, fenced.json()]).toEqual([503, { ready: false }]);
    await expect.poll(async () => (await probe()).statusCode).toBe(200);
  });

  it('has no route unless a path is given', async () => {
    expect((await appWith({ store: 'memory:' }).inject('/readyz')).statusCode).toBe(404);
  });

  it('fails to start when something cannot be opened, and holds nothing then', async () => {
    const store = memoryStore();
    const failure = new StoreError('away');
    const open = async (ids: { flakes(name: string): Promise<unknown> }) => {
      await ids.flakes('orders');
      throw failure;
    };
    await expect(appWith({ store, open }).ready()).rejects.toBe(failure);
    expect(await ownersIn(store, 'jflake')).toEqual([null]);
  });

  it('leaves ids open that the program has connected itself', async () => {
    const ids = await connect('memory:');
    const app = appWith({ ids, open: (them) => them.flakes('orders') });
    await app.ready();
    expect(app.ids).toBe(ids);
    await app.close();
    expect(ids.status().ready).toBe(true);
    await ids.close();
  });

  it('is registered once, and opens nothing a second time', async () => {
    const store = memoryStore();
    const app = appWith({ store: 'memory:' });
    app.register(idsmith, { store, open: (ids) => ids.flakes('orders') });
    await expect(app.ready()).rejects.toThrow('fastify.ids is taken: register the plugin once');
    expect(await ownersIn(store, 'jflake')).toEqual([]);
  });

  it('takes the options that Fastify gives to every plugin', async () => {
    const app = fastify();
    apps.push(app);
    app.register(idsmith, { store: 'memory:', prefix: '/ids', logLevel: 'warn' });
    await app.ready();
    expect(app.ids.status().ready).toBe(true);
  });

  it.each([
    [{}, 'give either store or ids'],
    [{ store: 'memory:', ids: {} }, 'give either store or ids'],
    [{ store: undefined }, 'store is undefined: give the URL of a store'],
    [{ ids: {} }, 'ids must be the result of connect()'],
    [{ store: 'memory:', redines: '/readyz' }, 'unknown name "redines"; did you mean "readiness"?'],
    [{ store: 'memory:', readiness: 'readyz' }, 'readiness must be a path like "/readyz", not "readyz"'],
    [{ store: 'memory:', readiness: true }, 'not true'],
    [{ store: 'memory:', open: {} }, 'open must be a function'],
    [
      { store: 'memory:', generators: { orders: {} } },
      'generators: "orders" must be { flakes: {} } or one of locality, uuid7, sequence, series, or a function like (ids) => ids.flakes("orders")',
    ],
    [
      { store: 'memory:', generators: { flakes: { flakes: {} } } },
      '"flakes" is a member of ids: choose another name',
    ],
    [{ store: 'memory:', generators: 5 }, 'generators: must be an object'],
    [{ store: 'memry:' }, 'did you mean memory:?'],
  ])('refuses %j', async (options, message) => {
    const failure = await appWith(options as IdsmithOptions)
      .ready()
      .then(undefined, (error: Error) => error);
    expect(failure).toBeInstanceOf(InvalidOptionError);
    expect((failure as Error).message).toContain(message);
  });

  it('refuses a label for ids that have one', async () => {
    const ids = await connect('memory:');
    await expect(appWith({ ids, label: 'x' }).ready()).rejects.toThrow('label needs store');
    await ids.close();
  });
});
