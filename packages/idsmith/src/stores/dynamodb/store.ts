import { refuse, requireKnown } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { requireTimeout } from '../../support/timeout.js';
import { makeStore, type OwnClient } from '../make-store.js';
import { SchemaGate } from '../schema-version.js';
import type { DisposableStore } from '../store.js';
import type { DynamodbClient } from './client.js';
import { openTable, serviceTime } from './connection.js';
import { dynamodbLeases, LEASE_ATTRIBUTES } from './leases.js';
import { checkedTable, dynamodbMarker } from './schema.js';
import { dynamodbRows, SEQUENCE_ATTRIBUTES } from './sequences.js';

/** Options of a DynamoDB store. */
export interface DynamodbStoreOptions {
  /** A table for this store alone. A missing table is created, with payment by the request. */
  readonly table: string;
  /** The name of the table's hash key, which is text. The table has no sort key. Default `'id'`. */
  readonly hashKey?: string;
  /** The longest time for a request, ms, including the client's repetitions. Default 10,000. */
  readonly timeout?: number;
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

/** A store on a client, for `dynamodbStore` and `openDynamodb`. */
export function storeOn(
  client: DynamodbClient,
  options: DynamodbStoreOptions,
  own?: OwnClient,
): DisposableStore {
  const { table, hashKey, timeout } = requireOptions(client, options);
  const bare = openTable(client, { table, hashKey, timeout, at: own?.at });
  const schema = new SchemaGate('dynamodb', dynamodbMarker(bare));
  const items = checkedTable(bare, schema);
  const now = () => items.request('reading the clock', (sdk, send) => serviceTime(sdk, send, table, hashKey));
  const methods = {
    ...dynamodbLeases(items),
    ...sequenceStore(dynamodbRows(items)),
    schemaVersion: () => schema.admit(),
    durable: true,
    ...(client.middlewareStack !== undefined && { now }),
  };
  return makeStore('dynamodb', methods, own);
}

function requireOptions(
  client: DynamodbClient,
  options: DynamodbStoreOptions,
): Required<DynamodbStoreOptions> {
  if (typeof client?.send !== 'function') refuse('client', 'a DynamoDBClient', client);
  const known = ['table', 'hashKey', 'timeout'];
  const { table, hashKey = 'id', timeout } = requireKnown('options', options, known);
  if (typeof table !== 'string' || table === '') refuse('table', 'the name of a table', table);
  if (typeof hashKey !== 'string' || hashKey === '' || ATTRIBUTES.includes(hashKey))
    refuse('hashKey', `a name other than ${ATTRIBUTES.join(', ')}`, hashKey);
  return { table, hashKey, timeout: requireTimeout(timeout, 10_000) };
}
