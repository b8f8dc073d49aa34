import { decodeSchema, encodeSchema, type SchemaGate, type SchemaMarker } from '../schema-version.js';
import type { Table } from './connection.js';

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
