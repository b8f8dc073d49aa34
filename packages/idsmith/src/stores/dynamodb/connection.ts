import type { AttributeValue, DynamoDBClient, ScanCommandInput } from '@aws-sdk/client-dynamodb';
import { loadDriver } from '../driver.js';
import { storeError } from '../sql/runner.js';

/** What is needed of a `DynamoDBClient` of the package `@aws-sdk/client-dynamodb`. */
export interface DynamodbClient {
  send(command: never, options?: { abortSignal?: AbortSignal }): Promise<unknown>;
  /** Known by this, a client lets its answers be looked at, and so tells the time of the service. */
  readonly middlewareStack?: object;
}

export type Item = Record<string, AttributeValue>;

type Sdk = typeof import('@aws-sdk/client-dynamodb');
type Send = DynamoDBClient['send'];

/** Where the items are, and what sends requests. */
export interface Table {
  readonly table: string;
  readonly hashKey: string;
  /** Runs the requests of an operation; makes the table and runs them once more when there was none. */
  request<T>(operation: string, work: (sdk: Sdk, send: Send) => Promise<T>): Promise<T>;
}

/** A table that is made when there is none. A request takes `timeout` ms at most, the client's repetitions included. */
export function openTable(client: DynamodbClient, table: string, hashKey: string, timeout: number): Table {
  const send = ((command: never) =>
    client.send(command, { abortSignal: AbortSignal.timeout(timeout) })) as Send;
  let making: Promise<void> | undefined;
  return {
    table,
    hashKey,
    async request(operation, work) {
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
    },
  };
}

/** All items that pass a filter, page by page, as they are at the time. */
export async function scan(
  sdk: Sdk,
  send: Send,
  filter: Omit<ScanCommandInput, 'ConsistentRead' | 'ExclusiveStartKey'>,
): Promise<Item[]> {
  const items: Item[] = [];
  let from: Item | undefined;
  do {
    const page = await send(
      new sdk.ScanCommand({ ...filter, ConsistentRead: true, ExclusiveStartKey: from }),
    );
    items.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
  return items;
}

/**
 * What a conditional write gives, and otherwise what `unmet` does when its condition did not hold. The client repeats a
 * request that got no answer: what is in the way of a `repeated` one may be the write itself.
 */
export async function conditionally<T>(
  write: Promise<T>,
  unmet: (repeated: boolean) => Promise<T> | T,
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (nameOf(error) !== 'ConditionalCheckFailedException') throw error;
    return unmet(isRepeated(error));
  }
}

/**
 * The clock of the service, ms: what it has written on its answer to a question for an item that nobody has.
 *
 * @throws Error when the answer has no date
 */
export async function serviceTime(sdk: Sdk, send: Send, TableName: string, hashKey: string): Promise<number> {
  let date: string | undefined;
  const question = new sdk.GetItemCommand({ TableName, Key: { [hashKey]: { S: 'clock' } } });
  question.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      ({ date } = (result.response as { headers: Record<string, string | undefined> }).headers);
      return result;
    },
    { step: 'deserialize' },
  );
  await send(question);
  // Whole seconds, rounded down: the middle is half a second off at most.
  const time = Date.parse(date ?? '') + 500;
  if (Number.isNaN(time)) throw new Error('the answer has no date');
  return time;
}

/** Whether the client has sent a request more than once, by its output or its error. */
function isRepeated(answer: unknown): boolean {
  const { attempts = 1 } = (answer as { $metadata?: { attempts?: number } }).$metadata ?? {};
  return attempts > 1;
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

export async function loadSdk(): Promise<Sdk> {
  return loadDriver('@aws-sdk/client-dynamodb', () => import('@aws-sdk/client-dynamodb'));
}
