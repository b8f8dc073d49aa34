import {
  ClosedError,
  InvalidIdError,
  InvalidOptionError,
  memoryStore,
  SequenceExhaustedError,
} from 'idsmith';
import { connect } from 'idsmith/connect';
import { series } from 'idsmith/sql';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { describeWith, shared } from '#services';
import { DATABASES, type TestDatabase } from './databases.ts';

const YEARLY = { format: 'INV-{yyyy}-{n:6}', period: 'year', timeZone: 'Europe/Berlin' } as const;
const fresh = () => `series ${crypto.randomUUID()}`;
const numbers = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1).padStart(4, '0'));

for (const [title, needs, start] of DATABASES)
  await describeWith(needs, `A series in ${title}`, () => {
    let db: TestDatabase;
    beforeAll(async () => {
      db = await start();
      // Any use of the store makes its table.
      await db.store.listSequences();
    });
    afterAll(() => db?.end());

    const plain = { format: '{n:4}' };
    const takeOne = async (from: ReturnType<typeof series>, tenant?: string) => {
      const { client, commit } = await db.begin();
      const text = await from.next({ in: client, ...(tenant !== undefined && { tenant }) });
      await commit();
      return text;
    };

    it('gives a number that is rolled back again', async () => {
      const invoices = series(fresh(), plain);
      expect(await takeOne(invoices)).toBe('0001');
      const { client, rollback } = await db.begin();
      expect(await Promise.all([invoices.next({ in: client }), invoices.next({ in: client })])).toEqual([
        '0002',
        '0003',
      ]);
      await rollback();
      expect(await takeOne(invoices)).toBe('0002');
    });

    it('counts for each tenant, with names that only look alike', async () => {
      const invoices = series(fresh(), plain);
      const tenants = ['acme', 'Acme', 'a:b', 'a%3Ab', "o'hara", 'ü', 'u\u0308', 'x:2026'];
      for (const tenant of tenants) expect(await takeOne(invoices, tenant)).toBe('0001');
      for (const tenant of tenants) expect(await takeOne(invoices, tenant)).toBe('0002');
    });

    it('has no hole when many begin it at once and some roll back, and each sees the invoice before its own', async () => {
      const invoices = series(fresh(), plain);
      const prefix = crypto.randomUUID();
      const kept = await Promise.all(
        Array.from({ length: 60 }, async (_, i) => {
          const { client, chain, commit, rollback } = await db.begin();
          const text = await invoices.next({ in: client });
          const before = await chain(`${prefix} ${text}`);
          if (i % 5 === 0) return rollback().then(() => undefined);
          await commit();
          return { text, before };
        }),
      );
      const given = kept.filter((entry) => entry !== undefined).sort((a, b) => (a.text < b.text ? -1 : 1));
      expect(given.map(({ text }) => text)).toEqual(numbers(48));
      for (const [i, { before }] of given.entries())
        if (i > 0) expect(before).toBe(`${prefix} ${given[i - 1]?.text}`);
    });

    it('refuses a number that outgrows its width and takes nothing, until the format lets it widen', async () => {
      const name = fresh();
      const narrow = series(name, { format: '{n:2}', start: 99 });
      expect(await takeOne(narrow)).toBe('99');
      const { client, commit } = await db.begin();
      await expect(narrow.next({ in: client })).rejects.toThrow(SequenceExhaustedError);
      await commit();
      expect(await takeOne(series(name, { format: '{n:2+}' }))).toBe('100');
    });

    it('refuses another format or period of the same series, in a transaction and in the store', async () => {
      const name = fresh();
      await takeOne(series(name, { format: '{yyyy}{mm}-{n:4}', period: 'year' }));
      const other = { format: '{yyyy}{mm}-{n:4}', period: 'month' } as const;
      const { client, rollback } = await db.begin();
      await expect(series(name, other).next({ in: client })).rejects.toThrow('another format or period');
      await rollback();
      const ids = await connect(db.store);
      await expect(ids.series(name, other)).rejects.toThrow('another format or period');
      await ids.close();
    });

    it('gives a number of another period back if the clock of the process was wrong, or the period has turned', async () => {
      const name = fresh();
      const yearly = series(name, { format: '{yyyy}-{n}', period: 'year' });
      const first = await takeOne(yearly);
      const year = Number(first.slice(0, 4));
      const later = `series:${encodeURIComponent(name)}::${year + 1}`;
      await db.store.defineSequence({ name: later, blockSize: 1 });
      const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.UTC(year + 1, 6));
      try {
        // In MySQL, the second one knows that the counter of the later year is there.
        for (const number of [2, 3, 4]) expect(await takeOne(yearly)).toBe(`${year}-${number}`);
      } finally {
        clock.mockRestore();
      }
      expect((await db.store.describeSequence(later)).next).toBe(1n);
      expect(await takeOne(yearly)).toBe(`${year}-5`);
    });

    it('has tenants in every call or in none: its option says so, or the first number, which the store remembers', async () => {
      const [demanded, refused, decided, alone] = [fresh(), fresh(), fresh(), fresh()];
      const { client, commit } = await db.begin();
      const each = series(demanded, { ...plain, tenants: true });
      for (const options of [{ in: client }, { in: client, tenant: undefined }])
        await expect(each.next(options as never)).rejects.toThrow('has numbers for each tenant');
      expect(await each.next({ in: client, tenant: 'acme' })).toBe('0001');
      const none = series(refused, { ...plain, tenants: false });
      await expect(none.next({ in: client, tenant: 'acme' } as never)).rejects.toThrow('has no tenants');
      expect(await none.next({ in: client })).toBe('0001');
      expect(await series(decided, plain).next({ in: client, tenant: 'acme' })).toBe('0001');
      expect(await series(alone, plain).next({ in: client })).toBe('0001');
      await commit();
      // Another process, in a transaction and in blocks.
      const forgot = await db.begin();
      const stored = series(decided, { ...plain, store: db.store });
      for (const call of [() => stored.next({ in: forgot.client }), () => stored.next()])
        await expect(call()).rejects.toThrow("give the tenant, as in next({ tenant: 'acme' })");
      const single = series(alone, { ...plain, store: db.store });
      for (const call of [
        () => single.next({ in: forgot.client, tenant: 'acme' }),
        () => single.next({ tenant: 'acme' }),
        () => series(alone, { ...plain, tenants: true, store: db.store }).ready(),
      ])
        await expect(call()).rejects.toThrow('began without tenants');
      await forgot.commit();
      expect(await takeOne(stored, 'acme')).toBe('0002');
      expect(await takeOne(single)).toBe('0002');
      // Nothing was made or taken for the wrong calls.
      const names = (await db.store.listSequences()).map(({ name }) => name);
      expect(names).not.toContain(`series:${encodeURIComponent(decided)}::`);
      expect(names).not.toContain(`series:${encodeURIComponent(alone)}:acme:`);
    });

    it('is refused outside of a transaction if it is transactional', async () => {
      const invoices = series(fresh(), { ...plain, transactional: true, store: db.store });
      // @ts-expect-error the types say the same
      await expect(invoices.next()).rejects.toThrow(
        'give the open transaction, as in next({ in: transaction })',
      );
      // @ts-expect-error the types say the same
      await expect(invoices.next({ tenant: 'acme' })).rejects.toThrow('is transactional');
      const { client, commit } = await db.begin();
      expect(await invoices.next({ in: client })).toBe('0001');
      await commit();
    });

    it('forgets the format with the transaction that was rolled back', async () => {
      const name = fresh();
      const { client, rollback } = await db.begin();
      await series(name, plain).next({ in: client });
      await rollback();
      expect(await takeOne(series(name, { format: 'A{n}' }))).toBe('A1');
    });

    it('needs an open transaction, or a store', async () => {
      const invoices = series(fresh(), plain);
      await expect(invoices.next({ in: db.idle })).rejects.toThrow('transaction must be open');
      await expect(invoices.next()).rejects.toThrow('has no store');
      await expect(invoices.next({ in: undefined } as never)).rejects.toThrow(InvalidOptionError);
      await expect(invoices.next({ in: {} })).rejects.toThrow(InvalidOptionError);
    });

    it('gives numbers of blocks and of transactions, each once', async () => {
      const ids = await connect(db.store);
      const invoices = await ids.series(fresh(), { format: '{n}' });
      const [ofBlocks, ofTransactions] = await Promise.all([
        Promise.all(Array.from({ length: 40 }, () => invoices.next())),
        Promise.all(Array.from({ length: 10 }, () => takeOne(invoices))),
      ]);
      expect(new Set([...ofBlocks, ...ofTransactions]).size).toBe(50);
      await ids.close();
    });

    it('logs numbers in their transaction, and voids them in one', async () => {
      const ids = await connect(db.store);
      const invoices = await ids.series(fresh(), { ...YEARLY, audit: true });
      const first = await invoices.next();
      const lost = await db.begin();
      await invoices.next({ in: lost.client });
      await lost.rollback();
      const second = await takeOne(invoices);
      expect([first, second].map((text) => invoices.parse(text).number)).toEqual([1n, 2n]);

      const undone = await db.begin();
      await invoices.void(first, 'undone', { in: undone.client });
      await undone.rollback();
      await invoices.void(second, 'cancelled – “duplicate” of №1');
      const list = await invoices.list();
      expect(list).toMatchObject([
        { text: first, number: 1n },
        { text: second, number: 2n, voided: { reason: 'cancelled – “duplicate” of №1' } },
      ]);
      expect(list[0]).not.toHaveProperty('voided');
      expect(Math.abs(Date.now() - (list[0]?.at.getTime() ?? 0))).toBeLessThan(60_000);
      await expect(invoices.void(second, 'again')).rejects.toThrow('cancelled');
      await expect(invoices.void(first.replace('000001', '000009'), 'why')).rejects.toThrow(InvalidIdError);
      await expect(invoices.void(first, ' ')).rejects.toThrow('reason');
      expect(await invoices.list({ period: '1999' })).toEqual([]);
      await expect(invoices.list({ period: '2026-07' })).rejects.toThrow(InvalidOptionError);
      await ids.close();
    });

    it('logs every number when many processes ask at once, and other sequences go on', async () => {
      const ids = await connect(db.store);
      const invoices = await ids.series(fresh(), { format: '{n:4}', audit: true });
      const orders = await ids.sequence('orders', { define: {} });
      const calls = Array.from({ length: 50 }, () => [invoices.next(), orders.next().then(String)]);
      const given = (await Promise.all(calls.flat())).filter((text) => text.length === 4);
      expect(given.sort()).toEqual(numbers(50));
      expect((await invoices.list()).map(({ text }) => text)).toEqual(numbers(50));
      await ids.close();
    });
  });

describe('A series on sequences', () => {
  it('is the one of the issue', async () => {
    const ids = await connect('memory:');
    const invoices = await ids.series('invoices', YEARLY);
    const year = new Intl.DateTimeFormat('en', { year: 'numeric', timeZone: 'Europe/Berlin' }).format();
    expect(await invoices.next()).toBe(`INV-${year}-000001`);
    await expect(invoices.next({ tenant: 'acme' })).rejects.toThrow('began without tenants');
    expect(invoices.parse('INV-2026-000123')).toEqual({ number: 123n, period: '2026' });
    expect(await ids.series('invoices', YEARLY)).toBe(invoices);
    await expect(ids.series('invoices', { ...YEARLY, start: 7 })).rejects.toThrow('another start');
    await ids.close();
    await expect(invoices.next()).rejects.toThrow(ClosedError);
  });

  it('turns to the new period with the clock of the store, and gives no block of the old one to it', async () => {
    const store = memoryStore();
    let now = Date.parse('2026-12-31T22:59:59.990Z');
    const invoices = series('invoices', {
      ...YEARLY,
      prefetch: 50,
      store: { ...store, now: async () => now },
    });
    expect([await invoices.next(), await invoices.next()]).toEqual(['INV-2026-000001', 'INV-2026-000002']);
    now += 10;
    // Until the reading of the old year has ended.
    await new Promise((resolve) => setTimeout(resolve, 15));
    expect([await invoices.next(), await invoices.next()]).toEqual(['INV-2027-000001', 'INV-2027-000002']);
    await invoices.close();
    // The numbers at hand went back.
    expect((await store.describeSequence('series:invoices::2026')).next).toBe(3n);
  });

  it('outgrows its width with an error', async () => {
    const ids = await connect('memory:');
    const codes = await ids.series('codes', { format: 'C{n:1}', start: 9 });
    expect(await codes.next()).toBe('C9');
    await expect(codes.next()).rejects.toThrow(SequenceExhaustedError);
    await expect(codes.next()).rejects.toThrow('the number 10 does not fit the format "C{n:1}": add a +');
    await ids.close();
  });

  it('goes on where its width has ended, once the width has got its +', async () => {
    const store = memoryStore();
    const narrow = series('codes', { format: 'C{n:1}', start: 8, store });
    expect([await narrow.next(), await narrow.next()]).toEqual(['C8', 'C9']);
    await expect(narrow.next()).rejects.toThrow(SequenceExhaustedError);
    expect(await store.describeSequence('series:codes::')).toMatchObject({ max: 9n, exhausted: true });
    const wide = series('codes', { format: 'C{n:1+}', start: 8, store });
    expect([await wide.next(), await wide.next()]).toEqual(['C10', 'C11']);
    // A process that has the old format still refuses what it cannot print.
    await expect(narrow.next()).rejects.toThrow('does not fit');
    expect(await store.describeSequence('series:codes::')).toMatchObject({ max: 2n ** 63n - 1n });
  });

  it('refuses what it does not know', async () => {
    const ids = await connect('memory:');
    const refused = (options: object) =>
      expect(ids.series('x', options as never)).rejects.toThrow(InvalidOptionError);
    await refused({});
    await refused({ ...YEARLY, timezone: 'UTC' });
    await refused({ ...YEARLY, period: 'week' });
    await refused({ ...YEARLY, start: -1 });
    await refused({ ...YEARLY, start: 1_000_000 });
    await refused({ ...YEARLY, audit: true });
    await refused({ format: '{n}', prefetch: -1 });
    await refused({ format: '{n}', tenants: 'yes' });
    await refused({ format: '{n}', transactional: 1 });
    await refused({ format: '{tenant}-{n}', tenants: false });
    await expect(ids.series("it's", YEARLY)).rejects.toThrow(InvalidOptionError);
    const named = await ids.series('named', { format: '{tenant}-{n}' });
    await expect(named.next()).rejects.toThrow('tenant');
    await expect(named.next({ tenant: 'a\nb' })).rejects.toThrow('tenant');
    await expect(named.next({ tennant: 'a' } as never)).rejects.toThrow('did you mean "tenant"');
    await expect(named.list()).rejects.toThrow('audit: true');
    const reason = new Error('stop');
    await expect(named.next({ tenant: 'a', signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await ids.close();
  });
});

await describeWith(['postgres'], 'A series in the table of the original', () => {
  it('works in its narrow columns, with blocks and in transactions', async () => {
    const server = await shared('postgres');
    const pool = new pg.Pool({ connectionString: server.url });
    pool.on('error', () => {});
    await pool.query(`CREATE TABLE id_sequences (name VARCHAR(255) NOT NULL PRIMARY KEY,
      next_block_start DECIMAL(12,0) NOT NULL, block_size DECIMAL(10,0) NOT NULL, exhausted DECIMAL(1,0) DEFAULT 0 NOT NULL)`);
    const ids = await connect(server.url);
    const invoices = await ids.series('invoices', { format: '{n}' });
    expect(await invoices.next()).toBe('1');
    const client = await pool.connect();
    await client.query('BEGIN');
    expect(await series('others', { format: '{n}' }).next({ in: client })).toBe('1');
    await client.query('COMMIT');
    client.release();
    await ids.close();
    await pool.end();
    await server.stop();
  });
});
