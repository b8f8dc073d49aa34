import type { LeaseRecord } from 'idsmith';
import type { TestServer } from './server.ts';

/** A hostile caller with a lease token, which sends any request it likes. */
export class Rogue {
  readonly #server: TestServer;
  readonly #token: string;

  constructor(server: TestServer, token: string) {
    this.#server = server;
    this.#token = token;
  }

  async list(namespace: string): Promise<{ now: number; leases: LeaseRecord[] }> {
    return (await this.#server.get(`/v1/leases/${namespace}`, { token: this.#token })).json;
  }

  /** The result, or the code of the problem. */
  async swap(namespace: string, expected: object | null, next: object): Promise<boolean | string> {
    const body = { expected, next };
    const { json } = await this.#server.post(`/v1/leases/${namespace}/swap`, { token: this.#token, body });
    return json.swapped ?? json.code;
  }

  async tail(name: string, body: object): Promise<boolean | string> {
    const { json } = await this.#server.post(`/v1/sequences/${name}/tails`, { token: this.#token, body });
    return json.returned ?? json.code;
  }

  /** Takes a block, in the JSON of the server. */
  async take(name: string): Promise<{ first: string; step: number; count: number; origin: number }> {
    return (await this.#server.post(`/v1/sequences/${name}/blocks`, { token: this.#token })).json;
  }
}
