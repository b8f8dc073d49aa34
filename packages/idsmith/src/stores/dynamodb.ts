import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { InvalidOptionError } from '../errors.js';
import { requireNamespace } from '../lease/namespace.js';
import { type LeaseRecord, sameRecord } from '../lease/port.js';
import { refuse, requireInteger } from '../options.js';
import { loadDriver, ownedStore } from './driver.js';
import type { Store } from './memory.js';
import { storeError } from './sql.js';

/** What is needed of a `DynamoDBClient` of the package `@aws-sdk/client-dynamodb`. */
export interface DynamodbClient {
  send(command: never, options?: { abortSignal?: AbortSignal }): Promise<unknown>;
}

/** Where a DynamoDB store keeps its records. */
export interface DynamodbStoreOptions {
  /** A table of its own. It is made, paid by the request, if there is none. */
  readonly table: string;
  /** The name of the table's hash key, which is text; it has no sort key. Default `'id'`. */
  readonly hashKey?: string;
  /** How long a request may take, the client's repetitions included, ms. Default 10,000. */
  readonly timeout?: number;
}

type Item = Record<string, AttributeValue>;

const ATTRIBUTES = ['namespace', 'node', 'owner', 'epoch', 'fence', 'expiresAt', 'label'];

/**
 * A store in a DynamoDB table: one item for each record, every read strongly consistent. Listing a namespace scans the
 * whole table, which leases do when they are acquired and not when they are renewed.
 *
 * @param client a `DynamoDBClient`, which stays the caller's to configure and to close
 * @throws InvalidOptionError when it is none, or an option is not as it must be
 *
 * @example
 * const store = dynamodbStore(new DynamoDBClient(), { table: 'ids' });
 */
export function dynamodbStore(client: DynamodbClient, options: DynamodbStoreOptions): Store {
  const { table, hashKey, timeout } = requireOptions(client, options);
  const request = requester(client, table, hashKey, timeout);
  return {
    durable: true,

    async listLeases(namespace) {
      requireNamespace(namespace);
      return request('listing leases', async (sdk, send) => {
        const records: LeaseRecord[] = [];
        let from: Item | undefined;
        do {
          const page = await send(
            new sdk.ScanCommand({
              TableName: table,
              ConsistentRead: true,
              FilterExpression: '#namespace = :namespace',
              ExpressionAttributeNames: { '#namespace': 'namespace' },
              ExpressionAttributeValues: { ':namespace': { S: namespace } },
              ExclusiveStartKey: from,
            }),
          );
          for (const item of page.Items ?? []) records.push(decode(item));
          from = page.LastEvaluatedKey;
        } while (from !== undefined);
        return records;
      });
    },

    async swapLease(namespace, expected, next) {
      // The last # ends the namespace, whatever is in it.
      const Key: Item = { [hashKey]: { S: `lease#${requireNamespace(namespace)}#${next.id}` } };
      const Item = { ...Key, namespace: { S: namespace }, label: { S: next.label }, ...stateOf(next) };
      return request('swapping a lease', async (sdk, send) => {
        try {
          await send(new sdk.PutItemCommand({ TableName: table, Item, ...unchanged(expected, hashKey) }));
          return true;
        } catch (error) {
          if (nameOf(error) !== 'ConditionalCheckFailedException') throw error;
          // The client repeats a request that got no answer: then what is in the way may be the first of the two.
          const { attempts = 1 } = (error as { $metadata?: { attempts?: number } }).$metadata ?? {};
          if (attempts === 1) return false;
          const found = await send(new sdk.GetItemCommand({ TableName: table, Key, ConsistentRead: true }));
          return sameRecord(found.Item && decode(found.Item), next);
        }
      });
    },

    async close() {},
  };
}

function requireOptions(
  client: DynamodbClient,
  options: DynamodbStoreOptions,
): Required<DynamodbStoreOptions> {
  if (typeof client?.send !== 'function') refuse('client', 'a DynamoDBClient', client);
  const { table, hashKey = 'id', timeout = 10_000 } = options ?? {};
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

type Sdk = typeof import('@aws-sdk/client-dynamodb');
type Work<T> = (sdk: Sdk, send: DynamoDBClient['send']) => Promise<T>;

/** Runs the requests of an operation; makes the table and runs them once more when there was none. */
function requester(client: DynamodbClient, table: string, hashKey: string, timeout: number) {
  const send = ((command: never) =>
    client.send(command, { abortSignal: AbortSignal.timeout(timeout) })) as DynamoDBClient['send'];
  let making: Promise<void> | undefined;
  return async <T>(operation: string, work: Work<T>): Promise<T> => {
    const sdk = await loadSdk();
    try {
      return await work(sdk, send).catch(async (error: unknown) => {
        if (nameOf(error) !== 'ResourceNotFoundException') throw error;
        making ??= makeTable(sdk, client, table, hashKey).finally(() => {
          making = undefined;
        });
        await making;
        return work(sdk, send);
      });
    } catch (error) {
      throw storeError(`dynamodb store: ${operation} of table ${table}`, error);
    }
  };
}

async function makeTable(sdk: Sdk, client: DynamodbClient, table: string, hashKey: string): Promise<void> {
  const dynamodb = client as DynamoDBClient;
  const creation = new sdk.CreateTableCommand({
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: hashKey, KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: hashKey, AttributeType: 'S' }],
  });
  await dynamodb.send(creation).catch((error: unknown) => {
    // Another process was faster.
    if (nameOf(error) !== 'ResourceInUseException') throw error;
  });
  const patience = { client: dynamodb, maxWaitTime: 120, minDelay: 1, maxDelay: 5 };
  await sdk.waitUntilTableExists(patience, { TableName: table });
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : undefined);

const loadSdk = () => loadDriver('@aws-sdk/client-dynamodb', () => import('@aws-sdk/client-dynamodb'));

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
  for (const name of settings.keys())
    if (name !== 'endpoint' && name !== 'hashKey')
      refuse('a setting of a DynamoDB URL', 'endpoint or hashKey', name);
  const endpoint = settings.get('endpoint') ?? undefined;
  if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:\/\/[^@]*$/.test(endpoint)))
    throw new InvalidOptionError('endpoint must be an http or https URL without credentials');
  return { region, table, endpoint, hashKey: settings.get('hashKey') ?? undefined };
}
