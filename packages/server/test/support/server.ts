import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, type Store } from 'idsmith';
import { createToken, type Settings, startServer } from '../../src/index.ts';

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

/** A server in this process, on a real socket, with a store in memory and a folder of its own. */
export class TestServer {
  readonly url: string;
  readonly folder: string;
  readonly log: string[];
  readonly #close: () => Promise<void>;

  private constructor(url: string, folder: string, log: string[], close: () => Promise<void>) {
    this.url = url;
    this.folder = folder;
    this.log = log;
    this.#close = close;
  }

  static async start(settings: Partial<Settings> = {}, store: Store = memoryStore()): Promise<TestServer> {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-server-'));
    const log: string[] = [];
    const running = await startServer(
      // Idle connections of `fetch` are not waited for.
      { port: 0, tokens: 'none', grace: 100, ...settings },
      { store, write: (line) => log.push(line) },
    );
    return new TestServer(running.url, folder, log, () => running.close());
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
    const response = await fetch(this.url + path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
    });
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
