import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClosedError, LocalityUuid, layouts, memoryStore, type Store } from 'idsmith';
import { connect, Ids } from 'idsmith/connect';
import { FakeTime } from 'idsmith/testing';
import { afterAll, describe, expect, expectTypeOf, it } from 'vitest';
import { openStore } from '../../src/stores/open.ts';

const named = (code: string) => expect.objectContaining({ code });
const kept = { durable: true, warnings: [] };
const folder = mkdtempSync(join(tmpdir(), 'idsmith-connect-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const fileUrl = () => `sqlite:${join(folder, `${files++}.db`)}`;

/** The labels of the leases that are held in a namespace. */
async function holders(store: Store, namespace: string): Promise<string[]> {
  const records = await store.listLeases(namespace);
  return records.filter(({ id, owner }) => id >= 0 && owner !== null).map(({ label }) => label);
}

describe.each<[string, () => Promise<Store>]>([
  ['memory', async () => memoryStore()],
  ['sqlite', () => openStore(fileUrl())],
])('ids on %s', (_name, open) => {
  it('hand out flakes, localities and sequences, and take all of it back', async () => {
    const store = await open();
    const ids = await connect(store, { label: 'host 1' });
    expect(ids).toBeInstanceOf(Ids);
    expect(ids.store).toBe(store);
    const orders = await ids.flakes('orders');
    const events = await ids.locality('events', { mode: 'sequential', label: 'host 2' });
    const invoices = await ids.sequence('invoices', { define: { start: 10_000 } });
    expect(layouts.jflake.decode(orders.next()).node).toBe(orders.lease?.id);
    expect(LocalityUuid.parse(events.next()).processId).toBe(0);
    expect(events.node.source).toBe('lease');
    expect(await invoices.next()).toBe(10_000n);
    expect(await holders(store, 'jflake')).toEqual(['host 1 orders']);
    expect(await holders(store, 'locality')).toEqual(['host 2']);

    await ids.close();
    await ids[Symbol.asyncDispose]();
    expect(await holders(store, 'jflake')).toEqual([]);
    expect(await holders(store, 'locality')).toEqual([]);
    expect(() => orders.next()).toThrow(named('CLOSED'));
    expect(() => events.next()).toThrow(named('CLOSED'));
    expect(() => invoices.take()).toThrow(ClosedError);
    // The store is the caller's. The tail of the block has come back.
    expect((await store.describeSequence('invoices')).next).toBe(10_001n);
    await store.close();
  });

  it('come in the type that as asks for, one type for each name', async () => {
    const store = await open();
    const ids = await connect(store);
    const orders = await ids.flakes('orders', { as: 'string' });
    const numbers = await ids.flakes('numbers', { layout: layouts.seconds53, as: 'number' });
    const invoices = await ids.sequence('invoices', { define: { start: 10_000 }, as: 'string' });
    expectTypeOf(orders.next).returns.toEqualTypeOf<string>();
    expectTypeOf(numbers.next).returns.toEqualTypeOf<number>();
    expectTypeOf(invoices.next).returns.resolves.toEqualTypeOf<string>();
    expect(orders.next()).toMatch(/^\d+$/);
    expect(layouts.seconds53.decode(numbers.next()).node).toBe(numbers.lease?.id);
    expect(await invoices.next()).toBe('10000');
    expect(await ids.flakes('orders', { as: 'string' })).toBe(orders);
    await expect(ids.flakes('orders')).rejects.toThrow(
      'the flake generator "orders" is open with another as: use the same options, or another name',
    );
    await expect(ids.sequence('invoices')).rejects.toThrow('sequence "invoices" is open with another as');
    await expect(ids.flakes('events', { as: 'number' })).rejects.toThrow(named('INVALID_OPTION'));
    expect(ids.status().ready).toBe(true);
    await ids.close();
    await store.close();
  });

  it('are the same object for the same name, also for those who ask at the same time', async () => {
    const store = await open();
    const ids = await connect(store);
    const [a, b] = await Promise.all([ids.flakes('orders'), ids.flakes('orders')]);
    expect(a).toBe(b);
    expect(await ids.flakes('orders', { layout: layouts.jflake })).toBe(a);
    const [c, d] = await Promise.all([ids.locality('events'), ids.locality('events')]);
    expect(c).toBe(d);
    const define = { start: 5 };
    const [e, f] = await Promise.all([ids.sequence('s', { define }), ids.sequence('s', { define })]);
    expect(e).toBe(f);
    expect(await holders(store, 'jflake')).toHaveLength(1);
    await a.close();
    await c.close();
    expect(await holders(store, 'locality')).toEqual([]);
    expect(() => c.next()).toThrow(named('CLOSED'));
    (await ids.locality('events')).next();
    const again = await ids.flakes('orders');
    expect(again).not.toBe(a);
    again.next();
    await ids.close();
    await store.close();
  });

  it('are several of one name under several instances, each with a node id of its own', async () => {
    const store = await open();
    const ids = await connect(store);
    const [first, second] = await Promise.all([ids.flakes('a'), ids.flakes('a', { instance: '2' })]);
    expect(await ids.flakes('a', { instance: '2' })).toBe(second);
    expect(await ids.flakes('a', { instance: '' })).toBe(first);
    expect(second.lease?.id).not.toBe(first.lease?.id);
    const spread = await ids.locality('b', { instance: 'variable' });
    const together = await ids.locality('b', { instance: 'sequential', mode: 'sequential' });
    expect(spread.lease?.id).not.toBe(together.lease?.id);
    expect((await ids.uuid7('c', { instance: 'x' })).lease?.id).toBe(0);
    const named = ids.status().leases.map(({ family, namespace, instance }) => [family, namespace, instance]);
    expect(named).toEqual([
      ['flake', 'jflake', ''],
      ['flake', 'jflake', '2'],
      ['locality', 'locality', 'variable'],
      ['locality', 'locality', 'sequential'],
      ['uuid7', 'uuid7', 'x'],
    ]);
    await expect(ids.flakes('a', { instance: '2', ttl: 1000 })).rejects.toThrow(
      'the flake generator "a" is open with',
    );
    await expect(ids.flakes('a', { instance: 2 as never })).rejects.toThrow('instance must be text, not 2');
    await expect(ids.uuid7(undefined, { instance: 'x' })).rejects.toThrow('unknown name "instance"');
    await ids.close();
    expect(await holders(store, 'jflake')).toEqual([]);
    expect(await holders(store, 'locality')).toEqual([]);
    await store.close();
  });

  it('refuse another layout, another option and another definition', async () => {
    const store = await open();
    const ids = await connect(store);
    await ids.flakes('orders');
    const other = ids.flakes('orders', { layout: layouts.snowflake });
    await expect(other).rejects.toThrow(named('INVALID_OPTION'));
    await expect(ids.flakes('orders', { ttl: 1000 })).rejects.toThrow('another ttl');
    await ids.locality('events');
    await expect(ids.locality('events', { mode: 'sequential' })).rejects.toThrow('another mode');
    await ids.sequence('s', { define: { start: 5 } });
    await expect(ids.sequence('s', { define: { start: 6 } })).rejects.toThrow(named('SEQUENCE_EXISTS'));
    await expect(ids.sequence('none')).rejects.toThrow(named('NO_SUCH_SEQUENCE'));
    await expect(ids.sequence('none')).rejects.toThrow('there is no sequence "none": give define');
    await ids.close();
    const later = await connect(store);
    const elsewhere = { namespace: 'jflake', layout: layouts.snowflake };
    await expect(later.flakes('orders', elsewhere)).rejects.toThrow('has ids of the layout');
    // A failure is forgotten.
    (await later.flakes('orders')).next();
    await later.close();
    await store.close();
  });
});

describe('ids', () => {
  it('open the store of a URL, and close it', async () => {
    const url = fileUrl();
    const ids = await connect(url);
    (await ids.flakes('orders')).next();
    await ids.close();
    await expect(ids.store.listLeases('orders')).rejects.toThrow(named('CLOSED'));
    const again = await openStore(url);
    expect(await holders(again, 'jflake')).toEqual([]);
    await again.close();
  });

  it('throw a ClosedError after the end', async () => {
    const ids = await connect('memory:');
    await ids.close();
    await expect(ids.flakes('orders')).rejects.toThrow(ClosedError);
    await expect(ids.locality('events')).rejects.toThrow(named('CLOSED'));
    await expect(ids.sequence('invoices')).rejects.toThrow(named('CLOSED'));
    expect(ids.status()).toEqual({ ready: false, leases: [], missing: [], sequences: [], ...kept });
  });

  it('end an acquisition that is under way when they are closed', async () => {
    const store: Store = { ...memoryStore(), listLeases: () => new Promise(() => {}) };
    const ids = await connect(store);
    const waiting = ids.flakes('orders');
    waiting.catch(() => undefined);
    expect(ids.status().ready).toBe(false);
    await ids.close();
    await expect(waiting).rejects.toThrow(ClosedError);
  });

  it('let one caller go without the others, and end with the last', async () => {
    const inner = memoryStore();
    let answer: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const store: Store = { ...inner, listLeases: (name) => gate.then(() => inner.listLeases(name)) };
    const ids = await connect(store);
    const [first, second] = [new AbortController(), new AbortController()];
    const [a, b] = [ids.flakes('x', { signal: first.signal }), ids.flakes('x', { signal: second.signal })];
    first.abort('first');
    await expect(a).rejects.toBe('first');
    second.abort('second');
    await expect(b).rejects.toBe('second');
    const c = ids.flakes('x');
    answer();
    (await c).next();
    expect(await holders(inner, 'jflake')).toHaveLength(1);
    await ids.close();
  });

  it('tell their state', async () => {
    const time = new FakeTime();
    const inner = memoryStore();
    const state = { down: false };
    const store: Store = {
      ...inner,
      now: async () => {
        if (state.down) throw new Error('down');
        return time.now;
      },
    };
    const ids = await connect(store);
    expect(ids.status()).toEqual({ ready: true, leases: [], missing: [], sequences: [], ...kept });
    const orders = await ids.flakes('orders', { clock: time.clock(), timer: time });
    await ids.sequence('invoices', { define: {} });
    const { id: node, until } = orders.lease as { id: number; until: number };
    const name = { family: 'flake', namespace: 'jflake', names: ['orders'], instance: '' };
    const lease = { ...name, node, state: 'active', until, left: 30_000 };
    const supply = { name: 'invoices', state: 'open', available: 0, wanted: 0, fetching: false };
    expect(ids.status()).toEqual({ ready: true, leases: [lease], missing: [], sequences: [supply], ...kept });
    state.down = true;
    await time.advance(30_001);
    expect(ids.status()).toMatchObject({
      ready: false,
      leases: [{ state: 'fenced', left: 0 }],
      lastError: expect.objectContaining({ message: 'down' }),
    });
    state.down = false;
    await ids.close();
  });

  it.each<[unknown, unknown]>([
    ['nonsense', {}],
    [{}, {}],
    [undefined, {}],
    ['memory:', { labell: 'x' }],
    ['memory:', { label: 5 }],
    ['memory:', { signal: 5 }],
  ])('are refused for %o with %o', async (target, options) => {
    await expect(connect(target as string, options as never)).rejects.toThrow(named('INVALID_OPTION'));
  });

  it('are not made when the signal is aborted', async () => {
    await expect(connect('memory:', { signal: AbortSignal.abort('stop') })).rejects.toBe('stop');
    const controller = new AbortController();
    const connecting = connect(fileUrl(), { signal: controller.signal });
    controller.abort('stop');
    await expect(connecting).rejects.toBe('stop');
  });

  it('refuse unknown options, also of a name that is open', async () => {
    const ids = await connect('memory:');
    await ids.flakes('orders');
    for (const wrong of [
      ids.flakes('orders', { size: 5 } as never),
      ids.flakes('', {}),
      ids.locality('events', { node: 'random' } as never),
      ids.locality('events', { counter: 'x' } as never),
      ids.sequence('invoices', { defin: {} } as never),
    ])
      await expect(wrong).rejects.toThrow(named('INVALID_OPTION'));
    await ids.close();
  });
});
