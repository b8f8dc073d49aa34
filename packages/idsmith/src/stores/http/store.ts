import { InvalidOptionError } from '../../errors.js';
import { requireKnown } from '../../options.js';
import { requireTimeout } from '../../support/timeout.js';
import { makeStore } from '../make-store.js';
import { requireUsable, type SchemaVersion, schemaOf, UNMARKED_SCHEMA } from '../schema-version.js';
import type { DisposableStore } from '../store.js';
import { requireHttpUrl, serverAsker, splitUrl } from './connection.js';
import { httpLeases } from './leases.js';
import { httpSequences } from './sequences.js';
import type { ServerReply } from './server-reply.js';

/** Options of a store behind a server. */
export interface HttpStoreOptions {
  /** A token with the scope `lease`. To define, alter and remove sequences it needs the scope `admin`, too. */
  readonly token?: string | undefined;
  /**
   * The longest time for a reply, ms. Default 5,000. A server that restarts, or refuses for a while, is asked again within this
   * time.
   */
  readonly timeout?: number | undefined;
  /** A replacement for the runtime's `fetch`, e.g. one with client certificates. */
  readonly fetch?: typeof fetch | undefined;
}

const KNOWN: readonly (keyof HttpStoreOptions)[] = ['token', 'timeout', 'fetch'];

/** The assumed longest ttl of a store that can forget, ms, until the server has told it. */
const USUAL_MAX_TTL = 60_000;

/**
 * A store behind an idsmith server: blocks and leases come from the server, and ids are minted here.
 *
 * Until the first reply of the server, `durable` is `false`: the store behind the server is still unknown, and so the first lease
 * may have a ttl of a minute at most. `openStore(url)` asks first.
 *
 * The owners of leases are secrets of their holders. `listLeases` gives the owners that this store object has sent. For all others
 * it gives a digest, with which an expired record can be taken.
 *
 * @param url of the server, without credentials
 * @throws InvalidOptionError when the URL or an option is wrong
 *
 * @example
 * const store = httpStore('https://ids.example.com', { token: process.env.IDSMITH_TOKEN });
 */
export function httpStore(url: string, options: HttpStoreOptions = {}): DisposableStore {
  const { token, timeout: limit, fetch: ask = fetch } = requireKnown('options', options, KNOWN);
  if (token !== undefined && (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)))
    throw new InvalidOptionError('token must be the text that idsmith token create has shown');
  const timeout = requireTimeout(limit, 5000);
  const askServer = serverAsker({ base: requireHttpUrl(url), token, timeout, fetch: ask });
  let durable = false;
  let maxTtl = USUAL_MAX_TTL;

  /** The schema of the store behind the server, as far as the server has told it. Servers of earlier versions do not. */
  let schema: SchemaVersion = UNMARKED_SCHEMA;

  /**
   * Learns the capabilities of the store behind the server from a reply.
   *
   * @throws StoreError when only later libraries may use that store
   */
  function learn(reply: ServerReply): void {
    if (reply.has('schema')) {
      const found = reply.object('schema');
      schema = schemaOf(found.integer('version'), found.integer('leastReader'));
      requireUsable('http', schema);
    }
    durable = reply.boolean('durable');
    maxTtl = durable ? USUAL_MAX_TTL : reply.integer('maxTtl');
  }

  const leases = httpLeases(askServer, learn);
  return makeStore('http', {
    ...leases,
    ...httpSequences(askServer),
    async schemaVersion() {
      await leases.now();
      return schema;
    },
    guarded: true,
    get durable() {
      return durable;
    },
    get maxTtl() {
      return maxTtl;
    },
  });
}

/**
 * The store of a URL like `https://token@host:7600`. Asks the server for its capabilities first.
 *
 * @throws InvalidOptionError when the URL is not of that form; the message does not show the token
 * @throws StoreError when the server does not answer
 */
export async function openHttp(url: string): Promise<DisposableStore> {
  const { url: server, token } = splitUrl(url);
  const store = httpStore(server, token === undefined ? {} : { token });
  await store.now?.();
  return store;
}
