import type {
  AttributeValue,
  BatchGetItemCommandOutput,
  DynamoDBClient,
  ScanCommandInput,
  WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { packageError } from '../../support/load-package.js';
import { storeError } from '../../support/store-error.js';
import { decodeSchema, encodeSchema, type SchemaGate, type SchemaMarker } from '../schema-version.js';
import { TableLineage } from './lineage.js';

/** The part of a client that the store uses. A `DynamoDBClient` of the package `@aws-sdk/client-dynamodb` has it. */
export interface DynamodbClient {
  send(command: never, options?: { abortSignal?: AbortSignal }): Promise<unknown>;
  /** A client with this member gives access to its responses, and so tells the time of the service. */
  readonly middlewareStack?: object;
}

export type Item = Record<string, AttributeValue>;

export type Sdk = typeof import('@aws-sdk/client-dynamodb');
export type Send = DynamoDBClient['send'];

/** A table, and the function that sends requests to it. */
export interface Table {
  readonly table: string;
  readonly hashKey: string;
  readonly lineage: TableLineage;
  /** Runs the requests of an operation. When the table is missing, creates the table and runs the requests once more. */
  request<T>(operation: string, work: (sdk: Sdk, send: Send) => Promise<T>): Promise<T>;
}

/** Options of {@link openTable}. */
interface TableOptions {
  readonly table: string;
  readonly hashKey: string;
  readonly timeout: number;
  /** The address of the service, for messages, if it is known. */
  readonly at: string | undefined;
}

/** A table that is created when it is missing. A request takes `timeout` ms at most, including the client's repetitions. */
export function openTable(client: DynamodbClient, { table, hashKey, timeout, at }: TableOptions): Table {
  const place = at === undefined ? '' : ` at ${at}`;
  const sendPlainly = ((command: never) =>
    client.send(command, { abortSignal: AbortSignal.timeout(timeout) })) as Send;
  const lineage = new TableLineage(table, sendPlainly, client.middlewareStack !== undefined);
  const { send } = lineage;
  let creating: Promise<void> | undefined;
  return {
    table,
    hashKey,
    lineage,
    async request(operation, work) {
      const sdk = await loadSdk();
      try {
        return await work(sdk, send).catch(async (error: unknown) => {
          if (nameOf(error) !== 'ResourceNotFoundException') throw error;
          creating ??= createTable(sdk, client, table, hashKey).finally(() => {
            creating = undefined;
          });
          await creating;
          return work(sdk, send);
        });
      } catch (error) {
        throw storeError(`dynamodb store: ${operation} of table ${table}${place}`, error);
      }
    },
  };
}

/** All items that pass a filter, read page by page. */
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

/** The items of up to a hundred keys that exist. The service may leave some to another request. */
export async function readItems(sdk: Sdk, send: Send, table: string, keys: readonly Item[]): Promise<Item[]> {
  const items: Item[] = [];
  let left: Item[] | undefined = [...keys];
  while (left !== undefined && left.length > 0) {
    const request = new sdk.BatchGetItemCommand({
      RequestItems: { [table]: { Keys: left, ConsistentRead: true } },
    });
    const page: BatchGetItemCommandOutput = await send(request);
    items.push(...(page.Responses?.[table] ?? []));
    left = page.UnprocessedKeys?.[table]?.Keys;
  }
  return items;
}

/** The most items that one request may delete. */
const MAX_DELETIONS = 25;

/** Deletes items, page by page. The service may leave some to another request. */
export async function deleteItems(sdk: Sdk, send: Send, table: string, keys: readonly Item[]): Promise<void> {
  let left = keys.map((Key): WriteRequest => ({ DeleteRequest: { Key } }));
  while (left.length > 0) {
    const RequestItems = { [table]: left.slice(0, MAX_DELETIONS) };
    const { UnprocessedItems } = await send(new sdk.BatchWriteItemCommand({ RequestItems }));
    left = [...(UnprocessedItems?.[table] ?? []), ...left.slice(MAX_DELETIONS)];
  }
}

/**
 * The result of a conditional write, or of `unmet` when the condition did not hold. The client repeats a request that got no
 * answer. The condition of a `repeated` request may fail because its first try has succeeded.
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

/** An answer, and the clock of the service when it was given, ms. */
export interface Dated<T> {
  readonly answer: T;
  readonly time: number;
}

interface Datable {
  readonly middlewareStack: {
    add(
      layer: (
        next: (args: never) => Promise<{ response: unknown }>,
      ) => (args: never) => Promise<{ response: unknown }>,
      options: { step: 'deserialize' },
    ): void;
  };
}

/**
 * The answer to a request, with the date on the response.
 *
 * @throws Error when the answer has no date
 */
export async function dated<Question extends object, T>(
  question: Question,
  send: (question: Question) => Promise<T>,
): Promise<Dated<T>> {
  let date: string | undefined;
  (question as unknown as Datable).middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      ({ date } = (result.response as { headers: Record<string, string | undefined> }).headers);
      return result;
    },
    { step: 'deserialize' },
  );
  const answer = await send(question);
  // Whole seconds, rounded down: the middle is half a second off at most.
  const time = Date.parse(date ?? '') + 500;
  if (Number.isNaN(time)) throw new Error('the answer has no date');
  return { answer, time };
}

/** The clock of the service, ms: the date on the response to a request for an item that does not exist. */
export async function serviceTime(sdk: Sdk, send: Send, TableName: string, hashKey: string): Promise<number> {
  const question = new sdk.GetItemCommand({ TableName, Key: { [hashKey]: { S: 'clock' } } });
  return (await dated(question, (command) => send(command))).time;
}

/** Tells by its output or its error whether the client has sent a request more than once. */
export function isRepeated(answer: unknown): boolean {
  const { attempts = 1 } = (answer as { $metadata?: { attempts?: number } }).$metadata ?? {};
  return attempts > 1;
}

async function createTable(sdk: Sdk, client: DynamodbClient, table: string, hashKey: string): Promise<void> {
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

export const nameOf = (error: unknown) => (error instanceof Error ? error.name : undefined);

export async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-dynamodb');
  } catch (error) {
    throw packageError('@aws-sdk/client-dynamodb', error);
  }
}

/** The marker in a DynamoDB table: the item `schema`. Its text is in an attribute that no hash key is named after. */
export function dynamodbMarker({ table: TableName, hashKey, request }: Table): SchemaMarker {
  const Key = { [hashKey]: { S: 'schema' } };
  return {
    read: (operation) =>
      request(operation, async (sdk, send) => {
        const { Item: found } = await send(new sdk.GetItemCommand({ TableName, Key, ConsistentRead: true }));
        const { definition } = found ?? {};
        return found && decodeSchema(definition?.S ?? '');
      }),
    write: (schema) =>
      request('writing the schema version', async (sdk, send) => {
        const command = {
          TableName,
          Item: { ...Key, definition: { S: encodeSchema(schema) } },
          ConditionExpression: 'attribute_not_exists(#key)',
          ExpressionAttributeNames: { '#key': hashKey },
        };
        await send(new sdk.PutItemCommand(command));
      }),
    isForbidden: (error) => (error as { cause?: Error }).cause?.name === 'AccessDeniedException',
  };
}

/** A table whose schema is checked before the first request. */
export interface CheckedTable extends Table {
  /** Does the same as `request`, for requests that may put the first item into the table. Marks the schema before. */
  create: Table['request'];
}

export function checkedTable(table: Table, schema: SchemaGate): CheckedTable {
  return {
    ...table,
    async request(operation, work) {
      await schema.admit(operation);
      return table.request(operation, work);
    },
    async create(operation, work) {
      await schema.mark(operation);
      return table.request(operation, work);
    },
  };
}
