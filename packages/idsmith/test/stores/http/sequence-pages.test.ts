import { InvalidOptionError, memoryStore } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestServer } from '../../../../server/test/support/server.ts';
import { httpStore } from '../../../src/stores/http/store.ts';

const nameOf = (i: number) => `sequence ${String(i).padStart(4, '0')}`;

/** A reply of a server that refuses the request. */
const problem = (status: number, code: string, reason?: string) =>
  new Response(JSON.stringify({ code, reason, detail: `refused: ${code}` }), { status });

describe('A list of many sequences', () => {
  const inner = memoryStore();
  let server: TestServer;

  beforeAll(async () => {
    for (let i = 0; i < 2500; i++) await inner.defineSequence({ name: nameOf(i) });
    server = await TestServer.start({}, inner);
  });
  afterAll(() => server?.stop());

  /** A store whose requests are noted. A request is refused if `refuse` has a reply for its query. */
  function open(refuse: (query: URLSearchParams) => Response | undefined = () => undefined) {
    const queries: string[][] = [];
    const noting: typeof fetch = async (input, init) => {
      const { searchParams } = new URL(String(input));
      queries.push([...searchParams.keys()]);
      return refuse(searchParams) ?? fetch(input, init);
    };
    return { store: httpStore(server.url, { fetch: noting }), queries };
  }

  it('comes page by page, and has each sequence once', async () => {
    const { store, queries } = open();
    expect(await store.listSequences()).toEqual(await inner.listSequences());
    expect(queries).toEqual([['limit'], ['limit', 'cursor'], ['limit', 'cursor']]);
  });

  it('comes at once from a server of an earlier version, which knows no pages', async () => {
    // A server answers so to any name in the query that it does not know.
    const { store, queries } = open((query) => (query.size > 0 ? problem(422, 'INVALID_OPTION') : undefined));
    expect(await store.listSequences()).toHaveLength(2500);
    expect(queries).toEqual([['limit'], []]);
  });

  it('fails as a whole if a later page is refused', async () => {
    const { store, queries } = open((query) =>
      query.has('cursor') ? problem(422, 'INVALID_OPTION') : undefined,
    );
    await expect(store.listSequences()).rejects.toThrow(InvalidOptionError);
    expect(queries).toEqual([['limit'], ['limit', 'cursor']]);
  });

  it('is not asked for again without pages if the server refuses for another reason', async () => {
    const { store, queries } = open(() => problem(403, 'FORBIDDEN'));
    await expect(store.listSequences()).rejects.toMatchObject({ code: 'STORE', reason: 'ACCESS_DENIED' });
    expect(queries).toEqual([['limit']]);
  });

  it.each([
    ['NO_SPACE', 'NO_SPACE'],
    ['a word of a later server', undefined],
    ['toString', undefined],
  ])('fails with the cause that the server tells: %s', async (told, reason) => {
    const { store } = open(() => problem(503, 'STORE', told));
    await expect(store.listSequences()).rejects.toMatchObject({ code: 'STORE', reason });
  });

  it('takes one request if all sequences fit on one page', async () => {
    for (let i = 1000; i < 2500; i++) await inner.removeSequence(nameOf(i));
    // All readers of a server share a list for a second or so.
    await expect.poll(() => open().store.listSequences()).toHaveLength(1000);
    const { store, queries } = open();
    await store.listSequences();
    expect(queries).toEqual([['limit']]);
  });
});
