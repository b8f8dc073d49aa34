import { once } from 'node:events';
import { connect } from 'node:net';
import { memoryStore, type Store } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemOf } from '../support/problem.ts';
import { exchange } from '../support/raw.ts';
import { TestServer } from '../support/server.ts';

const HOST = 'HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n';
const JSON_TYPE = 'Content-Type: application/json\r\n';

/** A whole answer, taken apart. */
function read(answer: string): { status: number; type: string; body: Record<string, unknown> } {
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
  return {
    status: Number(head.slice(9, 12)),
    type: /^content-type: (.*)$/im.exec(head)?.[1]?.trim() ?? '',
    body: JSON.parse(body || '{}'),
  };
}

describe('A problem, wherever it comes from, is application/problem+json and counts', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ log: 'requests' });
  });
  afterAll(() => server?.stop());

  const x = (length: number) => 'x'.repeat(length);

  it.each<[what: string, status: number, code: string, detail: RegExp, request: string]>([
    [
      'a long name',
      422,
      'INVALID_OPTION',
      /255 characters, not 2296/,
      `GET /v1/sequences/${x(2296)} ${HOST}`,
    ],
    [
      'a long name of a sequence',
      422,
      'INVALID_OPTION',
      /255 /,
      `POST /v1/sequences/${x(9000)}/next ${HOST}`,
    ],
    [
      'a long namespace',
      422,
      'INVALID_OPTION',
      /255 characters, not 15000/,
      `GET /v1/leases/${x(15_000)} ${HOST}`,
    ],
    ['a long id', 422, 'INVALID_OPTION', /500 characters, not 2296/, `GET /v1/inspect/${x(2296)} ${HOST}`],
    [
      'a long value',
      422,
      'INVALID_OPTION',
      /255 characters, not 9000/,
      `GET /v1/sequences?q=${x(9000)} ${HOST}`,
    ],
    [
      'a long number',
      422,
      'INVALID_OPTION',
      /count .*, not "x{40,60}/,
      `POST /v1/flakes?count=${x(9000)} ${HOST}`,
    ],
    ['a long path', 431, 'TOO_LARGE', /at most 16384 bytes/, `GET /v1/inspect/${x(20_000)} ${HOST}`],
    ['a long header', 431, 'TOO_LARGE', /at most 16384 bytes/, `GET /healthz ${HOST}X: ${x(20_000)}\r\n`],
    ['a broken escape', 400, 'MALFORMED', /"%zz"/, `GET /v1/sequences/a%zz ${HOST}`],
    ['a broken character', 400, 'MALFORMED', /"%c3%28"/, `GET /v1/sequences/%c3%28 ${HOST}`],
    ['a broken escape of no route', 400, 'MALFORMED', /"%"/, `PUT /nowhere/% ${HOST}`],
    [
      'a body that is too large',
      413,
      'TOO_LARGE',
      /at most 65536 bytes/,
      `POST /v1/sequences ${HOST}${JSON_TYPE}Content-Length: 70000\r\n`,
    ],
    [
      'a body that is no JSON',
      400,
      'MALFORMED',
      /JSON/,
      `POST /v1/sequences ${HOST}${JSON_TYPE}Content-Length: 1\r\n\r\n{`,
    ],
    [
      'another type',
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      /json/,
      `POST /v1/sequences ${HOST}Content-Type: a\r\nContent-Length: 1\r\n\r\n{`,
    ],
    ['an unknown method', 400, 'MALFORMED', /not valid HTTP/, `BREW /healthz ${HOST}`],
    ['a method without a route', 405, 'METHOD_NOT_ALLOWED', /GET, HEAD/, `OPTIONS /healthz ${HOST}`],
    ['CONNECT', 405, 'METHOD_NOT_ALLOWED', /no proxy/, `CONNECT localhost:1 ${HOST}`],
    ['an unknown path', 404, 'NOT_FOUND', /no route/, `OPTIONS * ${HOST}`],
    ['no host', 400, 'MALFORMED', /Host/, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n'],
    ['an unknown expectation', 417, 'MALFORMED', /Expect.*"tea"/, `POST /v1/flakes ${HOST}Expect: tea\r\n`],
  ])('%s: %i %s', async (_, status, code, detail, request) => {
    const counter = `idsmith_problems_total{code="${code}"}`;
    const answered = async () => {
      const { text } = await server.get('/metrics');
      const counts = [
        ...text.matchAll(new RegExp(`^idsmith_requests_total\\{.*status="${status}"\\} (\\d+)`, 'gm')),
      ];
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const before = [await server.metric(counter), await answered()];
    const seen = read(await exchange(server.port, `${request}\r\n`));
    expect(seen).toMatchObject({
      status,
      type: 'application/problem+json; charset=utf-8',
      body: { type: 'about:blank', status, code },
    });
    expect(seen.body.detail).toMatch(detail);
    expect([await server.metric(counter), await answered()]).toEqual(before.map((count) => count + 1));
    await expect.poll(() => server.log.join('')).toContain(`"status":${status}`);
  });

  it('also on a server with tokens, which a caller without one learns nothing more from', async () => {
    const [guarded] = await TestServer.startWithToken();
    const { status, body } = read(await exchange(guarded.port, `GET /v1/sequences/${x(2296)} ${HOST}\r\n`));
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'UNAUTHORIZED' });
    await guarded.stop();
  });

  it('has no body in the answer to HEAD', async () => {
    const answer = await exchange(server.port, `HEAD /v1/sequences/${x(2296)} ${HOST}\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 422 /);
    expect(answer).toMatch(/\r\n\r\n$/);
  });

  it('is not counted as an error of the server when a client goes away in the middle', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`POST /v1/sequences ${HOST}${JSON_TYPE}Content-Length: 100\r\n\r\n{"na`);
    await once(socket, 'connect');
    const count = async () => (await server.get('/metrics')).text;
    socket.resetAndDestroy();
    await server.get('/healthz');
    expect(await count()).not.toContain('INTERNAL');
    expect(server.log.join('')).not.toContain('"event":"request failed"');
  });
});

describe('A wrong value is named', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server?.stop());

  it.each([
    ['/v1/flakes?count=abc', 'count in the query must be a whole number from 1 to 10000, not "abc"'],
    ['/v1/flakes?count=0', 'count in the query must be a whole number from 1 to 10000, not 0'],
    ['/v1/flakes?count=', 'count in the query must be a whole number from 1 to 10000, not ""'],
    ['/v1/flakes?count=1&count=2', 'count in the query must be a whole number from 1 to 10000, not [1,2]'],
    ['/v1/locality?mode=fast', 'mode in the query must be "variable" or "sequential", not "fast"'],
    ['/v1/flakes?public=', 'public in the query must have 1 to 63 characters, not 0'],
    ['/v1/flakes?public=1', 'public in the query must be text, not 1'],
  ])('POST %s', async (path, detail) => {
    expect(problemOf(await server.post(path)).detail).toBe(detail);
  });

  it.each([
    [{ name: 5 }, 'name in the body must be text, not 5'],
    [{ name: 'x', start: '1.5' }, 'start in the body must be an integer, as a decimal string, not "1.5"'],
    [{ name: 'x', step: 0 }, 'step in the body must not be 0'],
    [{ name: 'x', cycle: 'yes' }, 'cycle in the body must be true or false, not "yes"'],
    [{ start: 5 }, 'the body must have the property name'],
    [[1], 'the body must be an object, not [1]'],
  ])('POST /v1/sequences %j', async (body, detail) => {
    expect(problemOf(await server.post('/v1/sequences', { body })).detail).toBe(detail);
  });
});

describe('An error that nobody has foreseen', () => {
  /** A store that throws whatever it is told to. */
  function throwing(thrown: () => unknown): Store {
    return Object.assign(memoryStore(), {
      describeSequence: async () => {
        throw thrown();
      },
    });
  }

  const secret = 'hunter2';
  const oddities: [what: string, thrown: () => unknown][] = [
    ['a TypeError', () => new TypeError('x is not a function')],
    ['nothing', () => undefined],
    ['null', () => null],
    ['a text', () => `text with ${secret}`],
    ['an object without a prototype', () => Object.create(null)],
    ['an error with a status of its own', () => Object.assign(new Error(secret), { statusCode: 404 })],
    ['an error with a list of violations', () => Object.assign(new Error(secret), { validation: [{}] })],
    ['an error of Node', () => Object.assign(new Error(`connect ${secret}`), { code: 'ECONNREFUSED' })],
    [
      'an error whose message cannot be read',
      () => ({
        get message() {
          throw new Error('no');
        },
      }),
    ],
  ];

  it.each(oddities)('%s: 500 without its text, a line of the log and a count', async (_, thrown) => {
    const server = await TestServer.start({ log: 'error' }, throwing(thrown));
    const seen = await server.get('/v1/sequences/a', { headers: { 'x-request-id': 'first' } });
    const again = await server.get('/v1/sequences/b', { headers: { 'x-request-id': 'second' } });
    for (const each of [seen, again]) {
      expect(problemOf(each)).toMatchObject({ status: 500, code: 'INTERNAL' });
      expect(each.text).not.toContain(secret);
    }
    const lines = server.log
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === 'request failed');
    expect(lines.map(({ requestId }) => requestId)).toEqual(['first', 'second']);
    expect(lines[0]).toMatchObject({
      level: 'error',
      path: '/v1/sequences/{name}',
      message: expect.any(String),
    });
    expect(await server.metric('idsmith_problems_total{code="INTERNAL"}')).toBe(2);
    expect(
      await server.metric('idsmith_requests_total{method="GET",path="/v1/sequences/{name}",status="500"}'),
    ).toBe(2);
    await server.stop();
  });

  it('has its stack in the log, even where it has a code', async () => {
    const server = await TestServer.start(
      {},
      throwing(() => Object.assign(new Error('x'), { code: 'ERR_X' })),
    );
    await server.get('/v1/sequences/a');
    expect(server.log.join('')).toContain('every-problem.test');
    await server.stop();
  });

  it('is answered when the log itself fails, and the server serves on', async () => {
    const { startServer } = await import('../../src/index.ts');
    const server = await startServer(
      { port: 0, tokens: 'none', grace: 100, log: 'requests' },
      {
        store: throwing(() => new Error('x')),
        write: () => {
          throw new Error('no space left on the device');
        },
      },
    );
    const answer = await fetch(`${server.url}/v1/sequences/a`);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(await answer.json()).toMatchObject({ status: 500, code: 'INTERNAL' });
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    await server.close();
  });

  it('of the metrics is answered and logged like any other', async () => {
    const server = await TestServer.start();
    const { memoryUsage } = process;
    process.memoryUsage = Object.assign(() => memoryUsage(), {
      rss: () => {
        throw new Error('/proc is not mounted');
      },
    });
    try {
      expect(problemOf(await server.get('/metrics'))).toMatchObject({ status: 500, code: 'INTERNAL' });
    } finally {
      process.memoryUsage = memoryUsage;
    }
    expect(server.log.join('')).toContain('/proc is not mounted');
    expect(await server.metric('idsmith_problems_total{code="INTERNAL"}')).toBe(1);
    await server.stop();
  });
});
