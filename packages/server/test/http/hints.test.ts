import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let token: string;
beforeAll(async () => {
  [server, token] = await TestServer.startWithToken();
});
afterAll(() => server?.stop());

/** The answer to a request with exactly these headers. */
async function ask(path: string, method: string, headers: Record<string, string>, body?: string) {
  const response = await fetch(server.url + path, { method, headers, ...(body !== undefined && { body }) });
  return { status: response.status, detail: ((await response.json()) as { detail: string }).detail };
}

const bearer = () => ({ authorization: `Bearer ${token}` });

describe('A refusal', () => {
  it.each([
    [
      'POST',
      '/v1/flakes?cuont=3',
      '"cuont" in the query is unknown; did you mean "count"? (known: count, public, plain)',
    ],
    ['POST', '/v1/keys?nonsense=3', '"nonsense" in the query is unknown (known: count, type)'],
    ['GET', '/v1/server?cuont=3', '"cuont" in the query is unknown (this route has no parameters)'],
  ])('of %s %s names the parameters that there are', async (method, path, detail) => {
    expect(await ask(path, method, bearer())).toEqual({ status: 422, detail });
  });

  it('of a field of a body names the fields that there are', async () => {
    const headers = { ...bearer(), 'content-type': 'application/json' };
    const { status, detail } = await ask('/v1/sequences', 'POST', headers, '{"name":"x","blokSize":5}');
    expect(status).toBe(422);
    expect(detail).toContain('"blokSize" in the body is unknown; did you mean "blockSize"? (known: name, ');
  });

  it('of a body in another form names the form and the header', async () => {
    const headers = { ...bearer(), 'content-type': 'text/plain' };
    const { status, detail } = await ask('/v1/sequences', 'POST', headers, '{"name":"x"}');
    expect(status).toBe(415);
    expect(detail).toContain('Content-Type: application/json');
  });

  it.each<[string, () => Record<string, string>, string]>([
    ['no header', () => ({}), 'this route needs a token: send the header Authorization: Bearer TOKEN'],
    [
      'a token without the word Bearer',
      () => ({ authorization: token }),
      'this header Authorization has no bearer token: send the word Bearer and the token, as in Authorization: Bearer TOKEN',
    ],
    [
      'another scheme',
      () => ({ authorization: `Basic ${btoa(`${token}:`)}` }),
      'this header Authorization has no bearer token: send the word Bearer and the token, as in Authorization: Bearer TOKEN',
    ],
    [
      'an unknown token',
      () => ({ authorization: `Bearer ${token}x` }),
      'this token is not known here, or was revoked: idsmith token list shows the tokens of a server, and ' +
        'idsmith token create makes one',
    ],
  ])('of %s says how to send a token', async (_, headers, detail) => {
    expect(await ask('/v1/flakes', 'POST', headers())).toEqual({ status: 401, detail });
  });
});
