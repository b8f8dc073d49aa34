import { InvalidOptionError } from '../../errors.js';
import { requireNamespace } from '../../lease/namespace.js';
import { type LeaseRecord, sameRecord } from '../../lease/port.js';
import { refuse, requireInteger, requireKnown } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { ownedStore, requireSettings } from '../driver.js';
import type { Store } from '../memory/store.js';
import {
  conditionally,
  type DynamodbClient,
  type Item,
  loadSdk,
  openTable,
  scan,
  serviceTime,
} from './connection.js';
import { dynamodbRows, SEQUENCE_ATTRIBUTES } from './sequences.js';

export type { DynamodbClient };

/** Where a DynamoDB store keeps its records. */
export interface DynamodbStoreOptions {
  /** A table of its own. It is made, paid by the request, if there is none. */
  readonly table: string;
  /** The name of the table's hash key, which is text; it has no sort key. Default `'id'`. */
  readonly hashKey?: string;
  /** How long a request may take, the client's repetitions included, ms. Default 10,000. */
  readonly timeout?: number;
}

const LEASE_ATTRIBUTES = ['namespace', 'node', 'owner', 'epoch', 'fence', 'expiresAt', 'label'];
const ATTRIBUTES = [...LEASE_ATTRIBUTES, ...SEQUENCE_ATTRIBUTES];

/**
 * A store in a DynamoDB table: one item for each record and each sequence, every read strongly consistent. Listing a
 * namespace scans the whole table, which leases do when they are acquired and not when they are renewed; listing sequences
 * does, too. Its clock is the date on the service's answers: leases ask for it, once more for each acquisition and renewal.
 *
 * @param client a `DynamoDBClient`, which stays the caller's to configure and to close
 * @throws InvalidOptionError when it is none, or an option is not as it must be
 *
 * @example
 * const store = dynamodbStore(new DynamoDBClient(), { table: 'ids' });
 */
export function dynamodbStore(client: DynamodbClient, options: DynamodbStoreOptions): Store {
  const { table, hashKey, timeout } = requireOptions(client, options);
  const items = openTable(client, table, hashKey, timeout);
  const { request } = items;
  return {
    ...sequenceStore(dynamodbRows(items)),
    durable: true,
    ...(client.middlewareStack !== undefined && {
      now: () => request('reading the clock', (sdk, send) => serviceTime(sdk, send, table, hashKey)),
    }),

    async listLeases(namespace) {
      const filter = {
        TableName: table,
        FilterExpression: '#namespace = :namespace',
        ExpressionAttributeNames: { '#namespace': 'namespace' },
        ExpressionAttributeValues: { ':namespace': { S: requireNamespace(namespace) } },
      };
      return request('listing leases', async (sdk, send) => (await scan(sdk, send, filter)).map(decode));
    },

    async swapLease(namespace, expected, next) {
      // The last # ends the namespace, whatever is in it.
      const Key: Item = { [hashKey]: { S: `lease#${requireNamespace(namespace)}#${next.id}` } };
      const Item = { ...Key, namespace: { S: namespace }, label: { S: next.label }, ...stateOf(next) };
      const command = { TableName: table, Item, ...unchanged(expected, hashKey) };
      return request('swapping a lease', async (sdk, send) =>
        conditionally(
          send(new sdk.PutItemCommand(command)).then(() => true),
          async (repeated) => {
            if (!repeated) return false;
            const found = await send(new sdk.GetItemCommand({ TableName: table, Key, ConsistentRead: true }));
            return sameRecord(found.Item && decode(found.Item), next);
          },
        ),
      );
    },

    async close() {},
  };
}

function requireOptions(
  client: DynamodbClient,
  options: DynamodbStoreOptions,
): Required<DynamodbStoreOptions> {
  if (typeof client?.send !== 'function') refuse('client', 'a DynamoDBClient', client);
  const known = ['table', 'hashKey', 'timeout'];
  const { table, hashKey = 'id', timeout = 10_000 } = requireKnown('options', options, known);
  if (typeof table !== 'string' || table === '') refuse('table', 'the name of a table', table);
  if (typeof hashKey !== 'string' || hashKey === '' || ATTRIBUTES.includes(hashKey))
    refuse('hashKey', `a name other than ${ATTRIBUTES.join(', ')}`, hashKey);
  return { table, hashKey, timeout: requireInteger('timeout', timeout, 1, 2 ** 31 - 1) };
}

/** All that a swap compares. A free record has no owner at all. */
function stateOf({ id, owner, epoch, fence, expiresAt }: LeaseRecord): Item {
  return {
    node: { N: String(id) },
    ...(owner !== null && { owner: { S: owner } }),
    epoch: { N: String(epoch) },
    fence: { N: String(fence) },
    expiresAt: { N: String(expiresAt) },
  };
}

function decode({ owner, label, ...numbers }: Item): LeaseRecord {
  const number = (name: string) => Number(numbers[name]?.N);
  return {
    id: number('node'),
    owner: owner?.S ?? null,
    epoch: number('epoch'),
    fence: number('fence'),
    expiresAt: number('expiresAt'),
    label: label?.S ?? '',
  };
}

/** The condition that the item is still `expected`, or still absent. */
function unchanged(expected: LeaseRecord | undefined, hashKey: string) {
  if (expected === undefined)
    return {
      ConditionExpression: 'attribute_not_exists(#key)',
      ExpressionAttributeNames: { '#key': hashKey },
    };
  const state = Object.entries(stateOf(expected));
  const conditions = state.map(([name]) => `#${name} = :${name}`);
  if (expected.owner === null) conditions.push('attribute_not_exists(#owner)');
  return {
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(
      ['owner', ...state.map(([name]) => name)].map((name) => [`#${name}`, name]),
    ),
    ExpressionAttributeValues: Object.fromEntries(state.map(([name, value]) => [`:${name}`, value])),
  };
}

/**
 * The store of a URL like `dynamodb://eu-west-1/table?endpoint=http://localhost:8000&hashKey=id`, with a client of its
 * own that `close()` ends. Credentials come from where the AWS SDK looks for them, never from the URL.
 *
 * @throws InvalidOptionError when the URL is not of that form
 * @throws StoreError when `@aws-sdk/client-dynamodb` is not installed
 */
export async function openDynamodb(url: string): Promise<Store> {
  const { region, table, endpoint, hashKey } = parseUrl(url);
  const { DynamoDBClient } = await loadSdk();
  const client = new DynamoDBClient({ region, ...(endpoint !== undefined && { endpoint }) });
  const store = dynamodbStore(client, { table, ...(hashKey !== undefined && { hashKey }) });
  return ownedStore(store, () => client.destroy());
}

function parseUrl(url: string) {
  // The URL is not shown: someone may have put a secret where none belongs.
  const form = 'dynamodb://region/table?endpoint=http://host:8000&hashKey=id, without credentials';
  const [, region, table, query] = /^dynamodb:\/\/([\w-]+)\/([\w.-]+)(?:\?([^#]*))?$/i.exec(url) ?? [];
  if (region === undefined || table === undefined)
    throw new InvalidOptionError(`a DynamoDB URL must look like ${form}`);
  const settings = new URLSearchParams(query);
  requireSettings('a DynamoDB URL', settings, ['endpoint', 'hashKey']);
  const endpoint = settings.get('endpoint') ?? undefined;
  if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:\/\/[^@]*$/.test(endpoint)))
    throw new InvalidOptionError('endpoint must be an http or https URL without credentials');
  return { region, table, endpoint, hashKey: settings.get('hashKey') ?? undefined };
}
