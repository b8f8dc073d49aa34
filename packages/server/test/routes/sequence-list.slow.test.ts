import { memoryStore, type Store } from 'idsmith';
import { httpStore } from 'idsmith/stores/http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemOf } from '../support/problem.ts';
import { TestServer } from '../support/server.ts';

const COUNT = 5000;
const nameOf = (i: number) => `team-${i % 7}/seq-${i}`;
const NAMES = Array.from({ length: COUNT }, (_, i) => nameOf(i)).sort();

describe('GET /v1/sequences of 5,000 sequences', () => {
  let server: TestServer;
  let store: Store;
  beforeAll(async () => {
    store = memoryStore();
    for (let i = 0; i < COUNT; i++)
      await store.defineSequence({ name: nameOf(i), blockSize: 1 + (i % 50), start: BigInt(i % 300) });
    server = await TestServer.start({}, store);
  });
  afterAll(() => server?.stop());

  interface Listed {
    readonly name: string;
    readonly next: string;
    readonly blockSize: number;
    readonly handedOut: number;
  }

  /** All pages of a query, one after the other. */
  async function pages(query: string, onPage: (page: number) => unknown = () => {}): Promise<Listed[][]> {
    const found: Listed[][] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const at: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { status, json } = await server.get(`/v1/sequences?${query}${at}`);
      expect(status).toBe(200);
      found.push(json.sequences);
      cursor = json.cursor;
      await onPage(found.length);
    }
    return found;
  }

  it('without parameters is all of them, as ever', async () => {
    const { json } = await server.get('/v1/sequences');
    expect(json.sequences.map(({ name }: Listed) => name)).toEqual(NAMES);
    expect(json).toMatchObject({ total: COUNT, cursor: null });
  });

  it('comes in pages, each sequence once and in order', async () => {
    const found = await pages('limit=700');
    expect(found.map(({ length }) => length)).toEqual([700, 700, 700, 700, 700, 700, 700, 100]);
    expect(found.flat().map(({ name }) => name)).toEqual(NAMES);
  });

  it.each([
    ['next', (a: Listed, b: Listed) => Number(BigInt(a.next) - BigInt(b.next))],
    ['-next', (a: Listed, b: Listed) => Number(BigInt(b.next) - BigInt(a.next))],
    ['blockSize', (a: Listed, b: Listed) => a.blockSize - b.blockSize],
    ['-blockSize', (a: Listed, b: Listed) => b.blockSize - a.blockSize],
    ['-name', (a: Listed, b: Listed) => (a.name < b.name ? 1 : -1)],
  ])('sorts by %s, across pages and with equal values by name', async (sort, compare) => {
    const found = (await pages(`sort=${sort}&limit=999`)).flat();
    const expected = [...found].sort((a, b) => compare(a, b) || (a.name < b.name ? -1 : 1));
    expect(found.map(({ name }) => name)).toEqual(expected.map(({ name }) => name));
    expect(new Set(found.map(({ name }) => name)).size).toBe(COUNT);
  });

  it('finds names that contain a text, in any case, and counts them', async () => {
    const { json } = await server.get('/v1/sequences?q=TEAM-3%2Fseq-49&limit=5');
    const all = NAMES.filter((name) => name.includes('team-3/seq-49'));
    expect(json.total).toBe(all.length);
    expect(json.sequences.map(({ name }: Listed) => name)).toEqual(all.slice(0, 5));
    // Digits are text, too.
    expect((await server.get('/v1/sequences?q=4999')).json.total).toBe(1);
    expect((await server.get('/v1/sequences?q=nothing')).json).toEqual({
      sequences: [],
      total: 0,
      cursor: null,
    });
  });

  it('misses none that was there all the time while others come and go', async () => {
    const found = await pages('limit=1000', async (page) => {
      await store.defineSequence({ name: `aaa-${page}` });
      await store.defineSequence({ name: `zzz-${page}` });
      await store.removeSequence(NAMES[page] as string);
    });
    const names = found.flat().map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(NAMES));
    for (let page = 1; page <= found.length; page++) {
      for (const name of [`aaa-${page}`, `zzz-${page}`]) await store.removeSequence(name);
      const i = Number(NAMES[page]?.split('-').at(-1));
      await store.defineSequence({ name: nameOf(i), blockSize: 1 + (i % 50), start: BigInt(i % 300) });
    }
  });

  it('is followed to the last page by httpStore, and was answered whole by servers of before', async () => {
    const asked: string[] = [];
    const counting: typeof fetch = (input, init) => {
      asked.push(String(input).slice(server.url.length));
      return fetch(input, init);
    };
    const listed = await httpStore(server.url, { fetch: counting }).listSequences();
    expect(listed.map(({ name }) => name)).toEqual(NAMES);
    expect(asked).toHaveLength(5);
    const before: typeof fetch = async (input, init) =>
      String(input).includes('?')
        ? new Response('{"code":"INVALID_OPTION","detail":"\\"limit\\" in the query is unknown"}', {
            status: 422,
          })
        : fetch(input, init);
    expect(await httpStore(server.url, { fetch: before }).listSequences()).toHaveLength(COUNT);
  });

  it('has an ETag, and is 304 without a body for whom has it', async () => {
    const path = '/v1/sequences?limit=3';
    let etag = '';
    const askAgain = async () => {
      etag = (await server.get(path)).headers.get('etag') as string;
      const answers: unknown[] = [];
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const seen = await server.get(path, { headers: { 'if-none-match': known } });
        answers.push([seen.status, seen.text, seen.headers.get('etag') === etag]);
      }
      return answers;
    };
    // Forecasts tell how many minutes they are from, so the tag is another one when a minute ends.
    await expect.poll(askAgain).toEqual(Array.from({ length: 4 }, () => [304, '', true]));
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    for (const other of ['"other"', etag.slice(1, -1), ''])
      expect((await server.get(path, { headers: { 'if-none-match': other } })).status).toBe(200);
    await server.post(`/v1/sequences/${encodeURIComponent(NAMES[0] as string)}/next`);
    // Readers share a listing for about a second.
    const statusNow = async () => (await server.get(path, { headers: { 'if-none-match': etag } })).status;
    await expect.poll(statusNow, { timeout: 20_000 }).toBe(200);
  });

  it.each(['limit=0', 'limit=1001', 'limit=x', 'sort=start', 'cursor=x', 'cursor=', 'page=2', 'q=a&q=b'])(
    'refuses %s',
    async (query) => {
      expect(problemOf(await server.get(`/v1/sequences?${query}`))).toMatchObject({
        status: 422,
        code: 'INVALID_OPTION',
      });
    },
  );

  it('refuses the cursor of another order', async () => {
    const { cursor } = (await server.get('/v1/sequences?limit=1&sort=-next')).json;
    expect((await server.get(`/v1/sequences?limit=1&sort=-next&cursor=${cursor}`)).status).toBe(200);
    const { detail } = problemOf(await server.get(`/v1/sequences?limit=1&sort=next&cursor=${cursor}`));
    expect(detail).toContain('start again without a cursor');
    for (const value of [
      ['name', 1, 'x'],
      ['next', 1, 'x'],
      ['next', '1', 2],
      ['next', 'x', 'x'],
      {},
      null,
    ]) {
      const made = Buffer.from(JSON.stringify(value)).toString('base64url');
      expect((await server.get(`/v1/sequences?sort=next&cursor=${made}`)).status).toBe(422);
    }
  });

  it('tells how many ids this server has handed out, and since when', async () => {
    const [name] = ['team-1/seq-1'];
    const path = `/v1/sequences/${encodeURIComponent(name as string)}`;
    const before = (await server.get(path)).json;
    expect(before).toMatchObject({ handedOut: 0, since: expect.any(Number) });
    for (let i = 0; i < 5; i++) await server.post(`${path}/next`);
    await server.post(`${path}/next?count=20`);
    await server.post(`${path}/blocks?count=3`);
    const after = (await server.get(path)).json;
    // Its blocks have two ids.
    expect(after).toMatchObject({ handedOut: 5 + 20 + 6, since: before.since });
    // Forecasts change with time, and readers share a listing for about a second.
    const busiest = async () => ({
      ...(await server.get('/v1/sequences?sort=-handedOut&limit=1')).json.sequences[0],
      forecast: null,
    });
    await expect.poll(busiest, { timeout: 20_000 }).toEqual({ ...after, forecast: null });
    await server.call('DELETE', path);
    await server.post('/v1/sequences', { body: { name, blockSize: 2, start: '1' } });
    expect((await server.get(path)).json.handedOut).toBe(0);
  });
});
