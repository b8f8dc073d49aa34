import { join } from 'node:path';
import { memoryStore } from 'idsmith';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder, removeFolder } from '#services/guard.ts';
import { createToken } from '../../src/index.ts';
import { seriesAmong } from '../../src/mint/series-minter.ts';
import { TestServer } from '../support/server.ts';

const INVOICES = { format: 'INV-{yyyy}-{n:6}', period: 'year' };

describe('Series', () => {
  const folder = makeFolder('series');
  let server: TestServer;
  afterEach(() => server.stop());
  afterAll(() => removeFolder(folder));

  it('are printed, listed with tenants and periods, and recognised', async () => {
    server = await TestServer.prepare();
    const path = '/v1/series/invoices/next';
    const { ids } = (await server.post(`${path}?count=3`, { body: INVOICES })).json;
    const year = ids[0].slice(4, 8);
    expect(ids).toEqual([1, 2, 3].map((n) => `INV-${year}-00000${n}`));
    const ORDERS = { ...INVOICES, format: 'ORD-{yyyy}-{n:6}', tenant: 'a:b' };
    const acme = await server.post('/v1/series/orders/next', { body: ORDERS });
    expect(acme.json.ids).toEqual([`ORD-${year}-000001`]);
    // The first number decides whether there are tenants.
    const mixed = await server.post(path, { body: { ...INVOICES, tenant: 'a:b' } });
    expect([mixed.status, mixed.json.code]).toEqual([422, 'INVALID_OPTION']);
    const { series } = (await server.get('/v1/series')).json;
    expect(series).toMatchObject([
      { name: 'invoices', total: 1, counters: [{ tenant: null }] },
      { name: 'orders', total: 1, counters: [{ tenant: 'a:b' }] },
    ]);
    expect(series[0].counters[0]).toMatchObject({ period: year, next: expect.stringMatching(/^\d+$/) });
    const { readings } = (await server.get(`/v1/inspect/${ids[2]}`)).json;
    expect(readings[0]).toMatchObject({
      family: 'series',
      fields: { series: 'invoices', number: '3', period: year },
    });
    expect(await server.metric('idsmith_ids_minted_total{family="series",sequence=""}')).toBe(4);
  });

  it('have counters that are no sequences: not listed, minted, altered or removed', async () => {
    server = await TestServer.prepare();
    const next = async () => (await server.post('/v1/series/invoices/next', { body: INVOICES })).json.ids[0];
    const year = (await next()).slice(4, 8);
    expect((await server.get('/v1/sequences')).json).toMatchObject({ sequences: [], total: 0 });
    for (const name of ['series:invoices', `series:invoices::${year}`]) {
      const path = `/v1/sequences/${encodeURIComponent(name)}`;
      for (const refused of [
        await server.post(`${path}/next?count=500`),
        await server.call('PATCH', path, { body: { blockSize: 1000 } }),
        await server.call('DELETE', path),
      ]) {
        expect([refused.status, refused.json.code]).toEqual([404, 'NO_SUCH_SEQUENCE']);
        expect(refused.json.detail).toContain('counts the numbers of a series');
      }
    }
    expect(await next()).toBe(`INV-${year}-000002`);
  });

  it('have one format, which wrong ones do not change', async () => {
    server = await TestServer.prepare();
    const path = '/v1/series/invoices/next';
    await server.post(path, { body: INVOICES });
    const other = await server.post(path, { body: { ...INVOICES, format: 'R-{yyyy}-{n:6}' } });
    expect([other.status, other.json.code]).toEqual([422, 'INVALID_OPTION']);
    const broken = await server.post('/v1/series/other/next', { body: { format: 'no number' } });
    expect([broken.status, broken.json.code]).toEqual([422, 'INVALID_OPTION']);
    expect((await server.get('/v1/series')).json.series.map(({ name }: { name: string }) => name)).toEqual([
      'invoices',
    ]);
    const { changes } = (await server.get('/v1/audit')).json;
    expect(changes).toMatchObject([{ action: 'define', subject: 'series invoices', after: INVOICES }]);
  });

  it('are begun only by a token with the scope admin', async () => {
    const tokens = join(folder, 'tokens.json');
    const [mint, admin] = await Promise.all([
      createToken(tokens, { name: 'mint', scopes: ['mint'] }),
      createToken(tokens, { name: 'admin', scopes: ['mint', 'admin'] }),
    ]);
    server = await TestServer.prepare({ tokens });
    const path = '/v1/series/invoices/next';
    const refused = await server.post(path, { body: INVOICES, token: mint });
    expect([refused.status, refused.json.code]).toEqual([404, 'NO_SUCH_SEQUENCE']);
    expect((await server.post(path, { body: INVOICES, token: admin })).status).toBe(200);
    expect((await server.post(path, { body: INVOICES, token: mint })).status).toBe(200);
  });
});

describe('A series with a definition', () => {
  const folder = makeFolder('series-definition');
  const tokens = join(folder, 'tokens.json');
  const path = '/v1/series/bills/next';
  const BILLS = { format: 'B-{yyyy}-{n:4}', period: 'year', timeZone: 'Europe/Berlin' };
  let mint: string;
  let admin: string;
  let server: TestServer;
  beforeAll(async () => {
    mint = await createToken(tokens, { name: 'mint', scopes: ['mint'] });
    admin = await createToken(tokens, { name: 'admin', scopes: ['mint', 'admin'] });
  });
  afterEach(() => server.stop());
  afterAll(() => removeFolder(folder));

  it('has it after a restart, too, and refuses calls that differ alone', async () => {
    const store = memoryStore();
    server = await TestServer.prepare({ tokens }, store);
    expect((await server.post(path, { token: admin, body: BILLS })).status).toBe(200);
    await server.stop();
    server = await TestServer.prepare({ tokens }, store);
    for (const body of [
      { ...BILLS, timeZone: 'Pacific/Kiritimati' },
      { ...BILLS, timeZone: undefined },
      { ...BILLS, format: 'B-{yyyy}-{n:4+}' },
    ]) {
      const refused = await server.post(path, { token: mint, body });
      expect([refused.status, refused.json.code]).toEqual([422, 'INVALID_OPTION']);
    }
    for (const token of [mint, admin])
      expect((await server.post(path, { token, body: BILLS })).status).toBe(200);
    const [counter] = (await store.listSequences()).filter(({ name }) => name.startsWith('series:bills::'));
    expect(counter?.max).toBe(9999n);
  });

  it('gets another width from an administrator, for everybody', async () => {
    server = await TestServer.prepare({ tokens });
    await server.post(path, { token: admin, body: BILLS });
    await server.post(path, { token: mint, body: BILLS });
    const wider = { ...BILLS, format: 'B-{yyyy}-{n:4+}' };
    expect((await server.post(path, { token: admin, body: wider })).status).toBe(200);
    expect((await server.post(path, { token: mint, body: wider })).status).toBe(200);
    expect((await server.post(path, { token: mint, body: BILLS })).status).toBe(422);
    const { changes } = (await server.get('/v1/audit', { token: admin })).json;
    expect(changes).toMatchObject([{ after: wider }, { after: BILLS }]);
  });

  it('begins a thousand tenants for a token, counts them, and leaves earlier tenants alone', async () => {
    const store = memoryStore();
    server = await TestServer.prepare({ tokens, rate: 0 }, store);
    const next = (tenant: string, token = mint) =>
      server.post('/v1/series/t/next', { token, body: { format: '{n}', tenant } });
    await next('first', admin);
    // A counter of an earlier period, and of another program.
    await store.defineSequence({ name: 'series:t:earlier:2025' });
    for (let i = 0; i < 1000; i++) expect((await next(`t${i}`)).status).toBe(200);
    expect((await next('one-more')).json.code).toBe('RATE_LIMITED');
    for (const tenant of ['first', 't0', 'earlier']) expect((await next(tenant)).status).toBe(200);
    expect((await next('one-more', admin)).status).toBe(200);
    expect(await server.metric('idsmith_tenants_begun_total{token="mint"}', mint)).toBe(1000);
    const { changes } = (await server.get('/v1/audit', { token: admin })).json;
    expect(changes[0]).toMatchObject({ subject: 'series t', token: 'admin', after: { tenant: 'one-more' } });
    expect(changes[1]).toMatchObject({ token: 'mint', after: { tenant: 't999' } });
  });
});

describe('The series among sequences', () => {
  it('are read from names, those of other programs included', () => {
    const info = {
      start: 1n,
      next: 7n,
      blockSize: 1,
      step: 1,
      min: 1n,
      max: 9n,
      cycle: false,
      exhausted: false,
    };
    const names = [
      'orders',
      'series:a',
      'series:a::2026',
      'series:a%3Ab:x%20y:',
      'series:%zz',
      `series:a:${'x'.repeat(9)}%%0f`,
    ];
    expect(seriesAmong(names.map((name) => ({ ...info, name })))).toEqual([
      { name: 'a', counters: [{ tenant: null, period: '2026', sequence: 'series:a::2026', next: 7n }] },
      { name: 'a:b', counters: [{ tenant: 'x y', period: '', sequence: 'series:a%3Ab:x%20y:', next: 7n }] },
      { name: '%zz', counters: [] },
    ]);
  });
});
