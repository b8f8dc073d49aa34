import 'reflect-metadata';
import { spawnSync } from 'node:child_process';
import {
  IdsHealthIndicator,
  IdsmithModule,
  InjectIdGenerator,
  InjectIds,
  idGeneratorToken,
} from '@idsmith/nest';
import {
  Controller,
  Get,
  type INestApplication,
  Injectable,
  Module,
  type ModuleMetadata,
  Post,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { HealthCheckService, TerminusModule } from '@nestjs/terminus';
import {
  ClosedError,
  type FlakeGenerator,
  InvalidOptionError,
  memoryStore,
  type Sequence,
  type Store,
  StoreError,
} from 'idsmith';
import { connect, Ids } from 'idsmith/connect';
import { afterEach, describe, expect, it } from 'vitest';

const apps: INestApplication[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

@Injectable()
class Orders {
  constructor(
    @InjectIdGenerator('orders') readonly orders: FlakeGenerator,
    @InjectIdGenerator('invoices') readonly invoices: Sequence,
    @InjectIds() readonly ids: Ids,
    readonly same: Ids,
  ) {}
}

const gate = { arrived: () => {}, goOn: Promise.resolve() };

@Controller()
class Shop {
  constructor(
    readonly orders: Orders,
    readonly health: HealthCheckService,
    readonly idsHealth: IdsHealthIndicator,
  ) {}

  @Post('orders')
  async order() {
    gate.arrived();
    await gate.goOn;
    return { id: String(this.orders.orders.next()), invoice: String(await this.orders.invoices.next()) };
  }

  @Get('readyz')
  ready() {
    return this.health.check([() => this.idsHealth.isHealthy()]);
  }
}

const generators = {
  orders: (ids: Ids) => ids.flakes('orders'),
  invoices: (ids: Ids) => ids.sequence('invoices', { define: { start: 10_000 } }),
};

/** An application whose root module imports these, and whose module of the shop knows nothing of them. */
async function appWith(...imports: NonNullable<ModuleMetadata['imports']>): Promise<INestApplication> {
  @Module({ imports: [TerminusModule], controllers: [Shop], providers: [Orders] })
  class ShopModule {}
  @Module({ imports: [...imports, ShopModule] })
  class AppModule {}
  const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
  apps.push(app);
  await app.listen(0, '127.0.0.1');
  return app;
}

const post = async (app: INestApplication) =>
  (await fetch(`${await app.getUrl()}/orders`, { method: 'POST', headers: { connection: 'close' } })).json();
const probe = async (app: INestApplication) => fetch(`${await app.getUrl()}/readyz`);
const ownersIn = async (store: Store, namespace: string) =>
  (await store.listLeases(namespace)).filter(({ id }) => id >= 0).map(({ owner }) => owner);

describe('The module of Nest', () => {
  it('injects generators, sequences and ids', async () => {
    const app = await appWith(IdsmithModule.forRoot({ store: 'memory:', generators }));
    expect(await post(app)).toEqual({ id: expect.stringMatching(/^\d+$/), invoice: '10000' });
    const { orders, ids, same } = app.get(Orders);
    expect(orders).toBe(await ids.flakes('orders'));
    expect(same).toBe(ids);
    expect(app.get(idGeneratorToken('orders'))).toBe(orders);
  });

  it('takes its store from another provider', async () => {
    @Module({ providers: [{ provide: 'URL', useValue: 'memory:' }], exports: ['URL'] })
    class Config {}
    const options = {
      imports: [Config],
      inject: ['URL'],
      useFactory: async (url: string) => ({ store: url, label: 'shop-1' }),
      generators,
    };
    const app = await appWith(IdsmithModule.forRootAsync(options));
    expect(await post(app)).toMatchObject({ invoice: '10000' });
    const { store } = app.get(Ids);
    expect(await store.listLeases('jflake')).toContainEqual(
      expect.objectContaining({ label: 'shop-1 orders' }),
    );
  });

  it('closes after the last request, which can still mint', async () => {
    const store = memoryStore();
    const app = await appWith(IdsmithModule.forRoot({ store, generators }));
    const orders = app.get<FlakeGenerator>(idGeneratorToken('orders'));
    let goOn = () => {};
    const hasArrived = new Promise<void>((resolve) => {
      gate.arrived = resolve;
    });
    gate.goOn = new Promise((resolve) => {
      goOn = resolve;
    });
    const answer = post(app);
    await hasArrived;
    const closed = app.close();
    await new Promise((resolve) => setImmediate(resolve));
    goOn();
    expect(await answer).toMatchObject({ invoice: '10000' });
    await closed;
    expect(() => orders.next()).toThrow(ClosedError);
    expect(await ownersIn(store, 'jflake')).toEqual([null]);
    gate.arrived = () => {};
  });

  it('has a health indicator for Terminus', async () => {
    const app = await appWith(IdsmithModule.forRoot({ store: 'memory:', generators }));
    const up = await probe(app);
    const lease = { family: 'flake', namespace: 'jflake' };
    expect([up.status, (await up.json()).info]).toEqual([
      200,
      { ids: { status: 'up', leases: [{ ...lease, state: 'active' }] } },
    ]);
    app.get<FlakeGenerator>(idGeneratorToken('orders')).lease?.fence();
    const health = app.get(IdsHealthIndicator).isHealthy('store');
    expect(health).toEqual({ store: { status: 'down', leases: [{ ...lease, state: 'fenced' }] } });
    const failure = await app
      .get(HealthCheckService)
      .check([() => health])
      .catch((error) => error);
    expect(failure.getStatus()).toBe(503);
    await expect.poll(async () => (await probe(app)).status).toBe(200);
  });

  it('leaves ids open that the program has connected itself', async () => {
    const ids = await connect('memory:');
    const app = await appWith(IdsmithModule.forRoot({ ids, generators }));
    expect(app.get(Ids)).toBe(ids);
    await app.close();
    expect(ids.status().ready).toBe(true);
    await ids.close();
  });

  it('does not start when something cannot be opened, and holds nothing then', async () => {
    const store = memoryStore();
    const failure = new StoreError('away');
    const broken = {
      ...generators,
      late: async (ids: Ids) => {
        await ids.flakes('orders');
        throw failure;
      },
    };
    await expect(appWith(IdsmithModule.forRoot({ store, generators: broken }))).rejects.toBe(failure);
    expect(await ownersIn(store, 'jflake')).toEqual([null]);
  });

  it('is for one module alone if it is not global', async () => {
    const options = { store: 'memory:', generators, isGlobal: false };
    await expect(appWith(IdsmithModule.forRoot(options))).rejects.toThrow(/idsmith generator "orders"/);
  });

  it.each([
    [{}, 'give either store or ids'],
    [{ store: 'memory:', ids: {} }, 'give either store or ids'],
    [{ store: undefined }, 'store is undefined: give the URL of a store'],
    [{ ids: {} }, 'ids must be the result of connect()'],
    [
      { store: 'memory:', generator: {} },
      'unknown name "generator"; did you mean "generators"? (known: store, ids, label, generators',
    ],
    [{ store: 'memory:', generators: { orders: 'flakes' } }, '(ids) => ids.flakes("orders")'],
    [{ store: 'memory:', isGlobal: 'no' }, 'isGlobal must be true or false, not "no"'],
  ])('refuses %j', (options, message) => {
    expect(() => IdsmithModule.forRoot(options as never)).toThrow(InvalidOptionError);
    expect(() => IdsmithModule.forRoot(options as never)).toThrow(message);
  });

  it('can be required by an application in CommonJS, the usual one of Nest 11', () => {
    const program = `require('reflect-metadata');
      const { Ids } = require('idsmith/connect');
      const { IdsmithModule } = require('@idsmith/nest');
      const { exports } = IdsmithModule.forRoot({ store: 'memory:' });
      console.log(exports.includes(Ids));`;
    const { stdout } = spawnSync(process.execPath, ['-e', program], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
    });
    expect(stdout).toBe('true\n');
  });

  it('refuses a factory that is none, and one that gives no store', async () => {
    expect(() => IdsmithModule.forRootAsync({} as never)).toThrow('useFactory must be a function');
    const useFactory = () => ({ url: 'memory:' }) as object;
    await expect(appWith(IdsmithModule.forRootAsync({ useFactory, generators }))).rejects.toThrow(
      'unknown name "url" (known: store, ids, label)',
    );
  });
});
