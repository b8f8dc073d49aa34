import { InvalidOptionError } from '../../errors.js';
import { type Complete, refuse, requireInteger, requireKnown } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { requireTimeout } from '../../support/timeout.js';
import { makeStore, type OwnClient } from '../make-store.js';
import { SchemaGate } from '../schema-version.js';
import type { DisposableStore } from '../store.js';
import { requireSettings } from '../url.js';
import {
  checkedTable,
  type DynamodbClient,
  dynamodbMarker,
  loadSdk,
  openTable,
  serviceTime,
} from './connection.js';
import { dynamodbLeases, LEASE_ATTRIBUTES } from './leases.js';
import { dynamodbPasts, dynamodbRows, SEQUENCE_ATTRIBUTES } from './sequences.js';

/** Options of a DynamoDB store. */
export interface DynamodbStoreOptions {
  /** A table for this store alone. A missing table is created, with payment by the request. */
  readonly table: string;
  /** The name of the table's hash key, which is text. The table has no sort key. Default `'id'`. */
  readonly hashKey?: string | undefined;
  /** The longest time for a request, ms, including the client's repetitions. Default 10,000. */
  readonly timeout?: number | undefined;
  /** The longest way that a sequence jumps after a loss, in ids. Default 10,000,000. */
  readonly maxJump?: number | undefined;
}

const ATTRIBUTES = [...LEASE_ATTRIBUTES, ...SEQUENCE_ATTRIBUTES];

/**
 * A store in a DynamoDB table: one item for each lease record and each sequence. Every read is strongly consistent. Listing a
 * namespace scans the whole table. Leases list their namespace when they are acquired, not when they are renewed. Listing
 * sequences scans the table, too. The store's clock is the date on the service's answers: one more request for each
 * acquisition and each renewal.
 *
 * @param client a `DynamoDBClient`, which stays the caller's to configure and to close
 * @throws InvalidOptionError when the client is another object, or an option is wrong
 *
 * @example
 * const store = dynamodbStore(new DynamoDBClient(), { table: 'ids' });
 */
export function dynamodbStore(client: DynamodbClient, options: DynamodbStoreOptions): DisposableStore {
  return storeOn(client, options);
}

/**
 * The store of a URL like `dynamodb://eu-west-1/table?endpoint=http://localhost:8000&hashKey=id&maxJump=1000000`, with a client of its own that
 * `close()` ends. The AWS SDK finds the credentials; the URL has none.
 *
 * @throws InvalidOptionError when the URL is not of that form
 * @throws StoreError when `@aws-sdk/client-dynamodb` is not installed
 */
export async function openDynamodb(url: string): Promise<DisposableStore> {
  const { region, table, endpoint, hashKey, maxJump } = parseUrl(url);
  const { DynamoDBClient } = await loadSdk();
  const client = new DynamoDBClient({ region, ...(endpoint !== undefined && { endpoint }) });
  return storeOn(
    client,
    {
      table,
      ...(hashKey !== undefined && { hashKey }),
      ...(maxJump !== undefined && { maxJump: Number(maxJump) }),
    },
    { at: endpoint === undefined ? region : new URL(endpoint).host, end: () => client.destroy() },
  );
}

function parseUrl(url: string) {
  // The message does not show the URL: someone may have put a secret into it.
  const form = 'dynamodb://region/table?endpoint=http://host:8000&hashKey=id, without credentials';
  const [, region, table, query] = /^dynamodb:\/\/([\w-]+)\/([\w.-]+)(?:\?([^#]*))?$/i.exec(url) ?? [];
  if (region === undefined || table === undefined)
    throw new InvalidOptionError(`a DynamoDB URL must look like ${form}`);
  const settings = new URLSearchParams(query);
  requireSettings('a DynamoDB URL', settings, ['endpoint', 'hashKey', 'maxJump']);
  const endpoint = settings.get('endpoint') ?? undefined;
  if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:\/\/[^@]*$/.test(endpoint)))
    throw new InvalidOptionError('endpoint must be an http or https URL without credentials');
  const [hashKey, maxJump] = ['hashKey', 'maxJump'].map((name) => settings.get(name) ?? undefined);
  return { region, table, endpoint, hashKey, maxJump };
}

/** A store on a client, for `dynamodbStore` and `openDynamodb`. */
function storeOn(client: DynamodbClient, options: DynamodbStoreOptions, own?: OwnClient): DisposableStore {
  const { table, hashKey, timeout, maxJump } = requireOptions(client, options);
  const bare = openTable(client, { table, hashKey, timeout, at: own?.at });
  const schema = new SchemaGate('dynamodb', dynamodbMarker(bare));
  const items = checkedTable(bare, schema);
  const isDated = client.middlewareStack !== undefined;
  const now = () => items.request('reading the clock', (sdk, send) => serviceTime(sdk, send, table, hashKey));
  const moment = async () =>
    (await items.request('reading the lineage', (sdk) => bare.lineage.moment(sdk))) ?? {
      now: await now(),
      lineage: undefined,
    };
  const sequences = sequenceStore(dynamodbRows(items, dynamodbPasts(items, isDated, maxJump)));
  const methods = {
    ...dynamodbLeases(items),
    ...sequences,
    warnings: () => [...bare.lineage.warnings, ...(sequences.warnings?.() ?? [])],
    schemaVersion: () => schema.admit(),
    durable: true,
    ...(isDated && { now, moment }),
  };
  return makeStore('dynamodb', methods, own);
}

function requireOptions(
  client: DynamodbClient,
  options: DynamodbStoreOptions,
): Complete<Omit<DynamodbStoreOptions, 'maxJump'>> & Pick<DynamodbStoreOptions, 'maxJump'> {
  if (typeof client?.send !== 'function') refuse('client', 'a DynamoDBClient', client);
  const known = ['table', 'hashKey', 'timeout', 'maxJump'];
  const { table, hashKey = 'id', timeout, maxJump } = requireKnown('options', options, known);
  if (typeof table !== 'string' || table === '') refuse('table', 'the name of a table', table);
  if (typeof hashKey !== 'string' || hashKey === '' || ATTRIBUTES.includes(hashKey))
    refuse('hashKey', `a name other than ${ATTRIBUTES.join(', ')}`, hashKey);
  if (maxJump !== undefined) requireInteger('maxJump', maxJump, 1, Number.MAX_SAFE_INTEGER);
  return { table, hashKey, timeout: requireTimeout(timeout, 10_000), maxJump };
}
