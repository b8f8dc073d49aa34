import { connect } from 'node:net';
import { memoryStore, type Store } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { TestServer } from '../support/server.ts';

const BLOCKS = '/v1/sequences/x/blocks';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  await server.post('/v1/sequences', { body: { name: 'x', blockSize: 10 } });
});
afterAll(() => server?.stop());

const withKey = (key: string, more: Record<string, string> = {}) => ({
  headers: { 'idempotency-key': `${key} of this test file`, ...more },
});

describe('A request with an Idempotency-Key', () => {
  it('has the same answer when it comes again, and nothing is taken twice', async () => {
    const first = await server.post(BLOCKS, withKey('a'));
    const again = await server.post(BLOCKS, withKey('a', { 'idsmith-try': '2' }));
    expect(again.status).toBe(200);
    expect(again.text).toBe(first.text);
    expect((await server.post(BLOCKS, withKey('b'))).json.first).toBe('11');
    expect(await server.metric('idsmith_repeats_total{outcome="replayed"}')).toBe(1);
  });

  it('has one answer when it comes many times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.post(BLOCKS, withKey('many'))));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('mints the same ids again, defines a sequence once, and keeps its status', async () => {
    const [one, two] = [
      await server.post('/v1/flakes?count=3', withKey('ids')),
      await server.post('/v1/flakes?count=3', withKey('ids')),
    ];
    expect(two.json).toEqual(one.json);
    const define = () => server.post('/v1/sequences', { ...withKey('define'), body: { name: 'once' } });
    expect([(await define()).status, (await define()).status]).toEqual([201, 201]);
    const remove = () => server.call('DELETE', '/v1/sequences/once', withKey('remove'));
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 204]);
  });

  it('is refused when the key was used for another one', async () => {
    await server.post(BLOCKS, withKey('mine'));
    const { status, json } = await server.post(`${BLOCKS}?count=2`, withKey('mine'));
    expect({ status, detail: json.detail }).toEqual({
      status: 422,
      detail: 'this Idempotency-Key was used for another request',
    });
  });

  it('is tried again when it failed', async () => {
    const call = () => server.post('/v1/sequences/later/blocks', withKey('later'));
    expect((await call()).status).toBe(404);
    await server.post('/v1/sequences', { body: { name: 'later' } });
    expect((await call()).status).toBe(200);
  });

  it('is counted when it comes again to a server that does not know it', async () => {
    await server.post(BLOCKS, withKey('elsewhere', { 'idsmith-try': '3' }));
    expect(await server.metric('idsmith_repeats_total{outcome="anew"}')).toBe(1);
  });

  it('belongs to its token', async () => {
    const [here, token] = await TestServer.startWithToken();
    const answer = await here.post('/v1/flakes', { ...withKey('k'), token });
    expect(answer.status).toBe(200);
    expect((await here.post('/v1/flakes', withKey('k'))).status).toBe(401);
    await here.stop();
  });
});

describe('An answer that nobody is there to take', () => {
  /** A store whose next allocation waits until it is told. */
  function slow(): Store & { release(): void; asked: Promise<void> } {
    const inner = memoryStore();
    let release = () => {};
    let tell = () => {};
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    const asked = new Promise<void>((resolve) => {
      tell = resolve;
    });
    return {
      ...inner,
      release: () => release(),
      asked,
      async allocate(name, blocks) {
        tell();
        await hold;
        return inner.allocate(name, blocks);
      },
    };
  }

  /** A server of which one answer, for the ids from 1 to 10, was not taken by anybody. */
  async function withUndelivered(): Promise<TestServer> {
    const store = slow();
    const here = await TestServer.start({}, store);
    await here.post('/v1/sequences', { body: { name: 'x', blockSize: 10 } });
    const socket = connect(here.port, '127.0.0.1');
    socket.write(
      `POST ${BLOCKS} HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: gone of this test file\r\n\r\n`,
    );
    await store.asked;
    socket.destroy();
    const series = 'idsmith_answers_undelivered_total{path="/v1/sequences/{name}/blocks"}';
    await expect.poll(() => here.metric(series)).toBe(1);
    store.release();
    return here;
  }

  it('is counted, kept for its key, and its ids are given to nobody else', async () => {
    const here = await withUndelivered();
    expect((await here.post(BLOCKS, withKey('other'))).json.first).toBe('11');
    expect((await here.post(BLOCKS, withKey('gone'))).json.first).toBe('1');
    await here.stop();
  });

  it('is forgotten when there are too many, and its block is given up', async () => {
    const here = await withUndelivered();
    // 16 MB of answers are remembered: of ten thousand ids each, some 75.
    const ids: string[] = [];
    for (let i = 0; i < 100; i++)
      ids.push(...(await here.post('/v1/flakes?count=10000', withKey(`large ${i}`))).json.ids);
    const again = async (i: number) =>
      (await here.post('/v1/flakes?count=10000', withKey(`large ${i}`))).json.ids as string[];
    expect(await again(99)).toEqual(ids.slice(-10_000));
    expect(repeated([...ids, ...(await again(0))])).toEqual([]);
    expect(await here.metric('idsmith_blocks_given_up_total')).toBe(1);
    expect((await here.post(BLOCKS, withKey('gone'))).json.first).toBe('11');
    await here.stop();
  });
});
