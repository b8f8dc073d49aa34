import { layouts, leaseFlakes, memoryStore } from 'idsmith';
import { connect } from 'idsmith/connect';
import { openStore } from 'idsmith/stores';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { repeated } from '../support/unique.ts';

/** The warnings of this code, once Node has emitted them. */
async function warningsDuring(work: () => Promise<void>): Promise<string[]> {
  const messages: string[] = [];
  const note = (warning: Error & { code?: string }) => {
    if (warning.code === 'SEPARATE_STORES') messages.push(warning.message);
  };
  process.on('warning', note);
  await work();
  // Node emits warnings before the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', note);
  return messages;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('two stores of sqlite::memory: in one process', () => {
  const url = 'sqlite::memory:';

  it('warn once for each namespace and sequence that both give out', async () => {
    const [one, two, three] = [await connect(url), await connect(url), await connect(url)];
    const messages = await warningsDuring(async () => {
      for (const ids of [one, two, three]) {
        await ids.flakes('orders');
        await ids.sequence('invoices', { define: {} });
      }
    });
    expect(messages).toHaveLength(2);
    expect(messages[0]).toContain(`this process has opened ${url} more than once`);
    expect(messages[0]).toContain('ids of namespace "jflake"');
    expect(messages[1]).toContain('ids of sequence "invoices"');
    await Promise.all([one, two, three].map((ids) => ids.close()));
  });

  it('are silent with other namespaces, one after the other, and when they are shared', async () => {
    const messages = await warningsDuring(async () => {
      const [one, two] = [await connect(url), await connect(url)];
      await one.flakes({ namespace: 'events' });
      await two.flakes({ namespace: 'orders' });
      await Promise.all([one.close(), two.close()]);
      for (let i = 0; i < 2; i++) {
        const ids = await connect(url);
        await ids.flakes('orders');
        await ids.close();
      }
      const [three, four] = [await connect(url, { shared: true }), await connect(url, { shared: true })];
      await three.flakes('orders');
      await four.flakes('orders');
      await three.close();
    });
    expect(messages).toEqual([]);
  });
});

describe('the URL memory:', () => {
  it('is one store for all who have it open: node ids, flakes and numbers do not repeat', async () => {
    const messages = await warningsDuring(async () => {
      const [one, two] = [await connect('memory:'), await connect('memory:')];
      const [first, second] = [await one.flakes('orders'), await two.flakes('orders')];
      expect([first.lease?.id, second.lease?.id]).toEqual([0, 1]);
      const minted = [...first.batch(20_000), ...second.batch(20_000)];
      expect(repeated(minted)).toEqual([]);
      const define = { start: 10, blockSize: 1 };
      const numbers = await Promise.all([one, two].map((ids) => ids.sequence('invoices', { define })));
      expect([await numbers[0]?.next(), await numbers[1]?.next()]).toEqual([10n, 11n]);
      await Promise.all([one.close(), two.close()]);
    });
    expect(messages).toEqual([]);
  });

  it('is empty when all have closed it, and repeats no flake of before even in the same tick', async () => {
    const minted: bigint[] = [];
    for (let i = 0; i < 3; i++) {
      const ids = await connect('memory:');
      // Ticks of a second: all of this happens in one or two of them.
      const orders = await ids.flakes('orders', { layout: layouts.seconds53 });
      minted.push(...orders.batch(50));
      expect(await (await ids.sequence('invoices', { define: { start: 10 } })).next()).toBe(10n);
      await ids.close();
    }
    expect(repeated(minted)).toEqual([]);
    const ids = await connect('memory:');
    expect(await ids.store.listSequences()).toEqual([]);
    // The layout is forgotten, too.
    const numbers = await ids.flakes('orders', { layout: layouts.safe53, as: 'number' });
    expect(numbers.next()).toBeTypeOf('number');
    await ids.close();
  });

  it('leaves a node id alone whose holder has not given it back', async () => {
    const lost = await openStore('memory:');
    const held = await leaseFlakes(lost, { namespace: 'jflake' });
    await lost.close();
    const ids = await connect('memory:');
    const orders = await ids.flakes('lost');
    expect(orders.lease?.id).toBe(1);
    expect(repeated([...held.batch(100), ...orders.batch(100)])).toEqual([]);
    await ids.close();
    await held.close().catch(() => undefined);
  });

  it('closes for one and stays open for others', async () => {
    const [one, two] = [await openStore('memory:'), await openStore('memory:')];
    await one.close();
    await one.close();
    await expect(one.listSequences()).rejects.toThrow(expect.objectContaining({ code: 'CLOSED' }));
    expect(await two.listSequences()).toEqual([]);
    await two.close();
  });
});

it('memoryStore() makes separate stores silently', async () => {
  const messages = await warningsDuring(async () => {
    for (const ids of [await connect(memoryStore()), await connect(memoryStore())])
      await ids.flakes('orders');
  });
  expect(messages).toEqual([]);
});
