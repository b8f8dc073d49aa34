import { InvalidOptionError } from '../../errors.js';
import { requireNamespace } from '../../lease/namespace.js';
import { refuse, requireInteger, requireKnown, show } from '../../options.js';
import { isBlock } from '../../sequence/block.js';
import { ALTERABLE, defineRow, MAX_BLOCKS } from '../../sequence/blocks.js';
import { requireSequenceName } from '../../sequence/name.js';
import type { Store } from '../memory/store.js';
import { type Answer, blockIn, leaseIn, sequenceIn } from './answer.js';
import { type HttpRequest, serverAsker } from './connection.js';
import { SentOwners } from './owners.js';

/** How a server is spoken to. */
export interface HttpStoreOptions {
  /** A token with the scope `lease`, and with `admin` to define, alter and remove sequences. */
  readonly token?: string;
  /** How long an answer may take, ms. Default 5,000. */
  readonly timeout?: number;
  /** In the place of the runtime's `fetch`, e.g. one with client certificates. */
  readonly fetch?: typeof fetch;
}

const KNOWN: readonly (keyof HttpStoreOptions)[] = ['token', 'timeout', 'fetch'];

/** The most blocks that a server gives at once. */
const MOST_BLOCKS = 10_000;

/** What is assumed of a store that can forget until it has told its longest ttl, ms. */
const USUAL_MAX_TTL = 60_000;

/**
 * A store behind an idsmith server: blocks and leases are fetched from there, and ids are minted here.
 *
 * Until the server has answered for the first time, `durable` is `false`: nobody knows yet what it keeps its leases in, and so
 * the first lease may have a ttl of a minute at most. `openStore(url)` asks first.
 *
 * The owners of leases are secrets of their holders. `listLeases` gives those that this very store has sent, and of all others a
 * digest, with which a record that has expired can be taken.
 *
 * @param url of the server, without credentials
 * @throws InvalidOptionError when the URL or an option is not as it must be
 *
 * @example
 * const store = httpStore('https://ids.example.com', { token: process.env.IDSMITH_TOKEN });
 */
export function httpStore(url: string, options: HttpStoreOptions = {}): Store {
  const { token, timeout: limit = 5000, fetch: ask = fetch } = requireKnown('options', options ?? {}, KNOWN);
  if (token !== undefined && (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)))
    throw new InvalidOptionError('token must be text as idsmith token create has shown it');
  const timeout = requireInteger('timeout', limit, 1, 2 ** 31 - 1);
  const askServer = serverAsker({ base: requireBase(url), token, timeout, fetch: ask });
  const owners = new SentOwners();
  let durable = false;
  let maxTtl = USUAL_MAX_TTL;

  /** Learns from an answer what the store behind the server can do. */
  function learn(answer: Answer): void {
    durable = answer.boolean('durable');
    maxTtl = durable ? USUAL_MAX_TTL : answer.integer('maxTtl');
  }

  return {
    guarded: true,
    get durable() {
      return durable;
    },
    get maxTtl() {
      return maxTtl;
    },

    now: () =>
      askServer(get('reading the clock', '/v1/server'), (answer) => {
        learn(answer);
        return answer.integer('now');
      }),

    async listLeases(namespace) {
      return askServer(get('listing leases', leasesAt(namespace)), (answer) => {
        learn(answer);
        return answer.list('leases').map((each) => owners.reveal(leaseIn(each)));
      });
    },

    async swapLease(namespace, expected, next) {
      const path = `${leasesAt(namespace)}/swap`;
      const body = { expected: expected ?? null, next };
      await owners.remember(next.owner);
      // One that was done already is refused by the store, if not by the server that remembers it.
      const request = post('swapping a lease', path, body, true);
      return askServer(request, (answer) => answer.boolean('swapped'));
    },

    async defineSequence(definition) {
      const { name, start, blockSize, step, min, max, cycle } = defineRow(definition, 1);
      const body = { name, start, blockSize, step, min, max, cycle };
      await askServer(post(`defining sequence ${show(name)}`, '/v1/sequences', body), () => {});
    },

    async alterSequence(name, changes) {
      requireKnown('changes', changes, ALTERABLE);
      const request: HttpRequest = {
        ...post(`altering sequence ${show(name)}`, sequenceAt(name), changes),
        method: 'PATCH',
      };
      return askServer(request, sequenceIn);
    },

    async describeSequence(name) {
      return askServer(get(`describing sequence ${show(name)}`, sequenceAt(name)), sequenceIn);
    },

    async listSequences() {
      return askServer(get('listing sequences', '/v1/sequences'), (answer) =>
        answer.list('sequences').map(sequenceIn),
      );
    },

    async removeSequence(name) {
      const what = `removing sequence ${show(name)}`;
      await askServer({ what, method: 'DELETE', path: sequenceAt(name), isRepeatable: false }, () => {});
    },

    async allocate(name, blocks) {
      requireInteger('blocks', blocks, 1, MAX_BLOCKS);
      const path = `${sequenceAt(name)}/blocks?count=${Math.min(blocks, MOST_BLOCKS)}`;
      // What a server has forgotten it allocates anew: a block is lost then, but none comes twice.
      return askServer(post(`allocating from sequence ${show(name)}`, path, undefined, true), blockIn);
    },

    async giveBack(name, tail) {
      if (!isBlock(tail)) refuse('tail', 'a run of ids: first, step and count', tail);
      const { first, step, count, origin } = tail;
      const body = { first, step, count, origin };
      // The origin is the receipt that the server gave with the run. Never sent again: by then somebody may have taken these very
      // ids, and a server that knows no receipts would take them from him.
      const request = post(`giving back to sequence ${show(name)}`, `${sequenceAt(name)}/tails`, body);
      return askServer(request, (answer) => answer.boolean('returned'));
    },

    async close() {},
  };
}

/**
 * The store of a URL like `https://token@host:7600`, which has been asked what it promises.
 *
 * @throws InvalidOptionError when the URL is not of that form; it never shows the token
 * @throws StoreError when the server does not answer
 */
export async function openHttp(url: string): Promise<Store> {
  if (!URL.canParse(url)) throw badUrl();
  const parsed = new URL(url);
  // Tokens of idsmith have nothing in them that would have to be escaped.
  const token = parsed.password || parsed.username;
  parsed.username = parsed.password = '';
  const store = httpStore(parsed.href, token === '' ? {} : { token });
  await store.now?.();
  return store;
}

function badUrl(): InvalidOptionError {
  return new InvalidOptionError('the URL of a server must look like https://host:7600, without query');
}

/** The URL without a slash at its end. It is not shown if it is wrong: it may hold a token. */
function requireBase(url: unknown): string {
  if (typeof url !== 'string' || !URL.canParse(url)) throw badUrl();
  const { protocol, origin, pathname, search, hash, username, password } = new URL(url);
  const isPlain = [search, hash, username, password].every((part) => part === '');
  if (!isPlain || (protocol !== 'http:' && protocol !== 'https:')) throw badUrl();
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

const get = (what: string, path: string): HttpRequest => ({ what, method: 'GET', path, isRepeatable: true });

const post = (what: string, path: string, body?: object, isRepeatable = false): HttpRequest => ({
  ...{ what, method: 'POST', path, isRepeatable },
  ...(body !== undefined && { body }),
});

const leasesAt = (namespace: string) => `/v1/leases/${segment('namespace', requireNamespace(namespace))}`;

const sequenceAt = (name: string) =>
  `/v1/sequences/${segment('the name of a sequence', requireSequenceName(name))}`;

/** Of a path. URLs cannot have these two, however they are written. */
function segment(option: string, text: string): string {
  if (text === '.' || text === '..') refuse(option, 'another than "." and ".." over HTTP', text);
  return encodeURIComponent(text);
}
