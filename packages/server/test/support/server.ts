import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, type Store } from 'idsmith';
import { createToken, type Settings, startServer } from '../../src/index.ts';
import { prepareServer } from '../../src/start.ts';

/** A response, as the client sees it. */
export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect
  readonly json: any;
}

export interface Options {
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Call = (
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
) => Promise<Response>;

/** A server in this process, with a store in memory and a folder of its own. */
export class TestServer {
  readonly url: string;
  readonly folder = mkdtempSync(join(tmpdir(), 'idsmith-server-'));
  readonly log: string[];
  readonly #call: Call;
  readonly #close: () => Promise<void>;

  private constructor(url: string, log: string[], call: Call, close: () => Promise<void>) {
    this.url = url;
    this.log = log;
    this.#call = call;
    this.#close = close;
  }

  /** Starts a server on a real socket. */
  static async start(settings: Partial<Settings> = {}, store: Store = memoryStore()): Promise<TestServer> {
    const log: string[] = [];
    const running = await startServer(
      // Idle connections of `fetch` are not waited for.
      { port: 0, tokens: 'none', grace: 100, ...settings },
      { store, write: (line) => log.push(line) },
    );
    const call: Call = (method, path, headers, body) =>
      fetch(running.url + path, { method, headers, ...(body !== undefined && { body }) });
    return new TestServer(running.url, log, call, () => running.close());
  }

  /** Makes a server without a socket, for tests of what it answers. It has no URL. */
  static async prepare(settings: Partial<Settings> = {}, store: Store = memoryStore()): Promise<TestServer> {
    const log: string[] = [];
    const { app, close } = await prepareServer(
      { tokens: 'none', ...settings },
      { store, write: (line) => log.push(line) },
    );
    const call: Call = async (method, url, headers, body) => {
      const answer = await app.inject({
        method: method as 'GET',
        url,
        headers: { host: 'localhost', ...headers },
        ...(body !== undefined && { payload: body }),
      });
      const isEmpty = answer.statusCode === 204 || answer.statusCode === 304;
      return new Response(isEmpty ? null : new Uint8Array(answer.rawPayload), {
        status: answer.statusCode,
        headers: Object.entries(answer.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]),
      });
    };
    return new TestServer('', log, call, close);
  }

  /** Starts a server that needs tokens, and returns a token with all scopes. */
  static async startWithToken(
    settings: Partial<Settings> = {},
  ): Promise<[server: TestServer, token: string]> {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-tokens-'));
    const tokens = join(folder, 'tokens.json');
    const token = await createToken(tokens, { name: 'all', scopes: ['mint', 'lease', 'admin'] });
    return [await TestServer.start({ tokens, ...settings }), token];
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async call(method: string, path: string, { body, token, headers }: Options = {}): Promise<Seen> {
    const sent = {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    };
    const response = await this.#call(method, path, sent, body === undefined ? body : JSON.stringify(body));
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
  }

  get = (path: string, options?: Options) => this.call('GET', path, options);
  post = (path: string, options?: Options) => this.call('POST', path, options);

  /** The value of a metric with these labels; 0 if it is missing. */
  async metric(series: string, token?: string): Promise<number> {
    const { text } = await this.get('/metrics', token === undefined ? {} : { token });
    const line = text.split('\n').find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length) ?? 0);
  }

  async stop(): Promise<void> {
    await this.#close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
