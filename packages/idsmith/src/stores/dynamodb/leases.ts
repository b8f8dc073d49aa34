import { requireNamespace, requireTrial } from '../../lease/namespace.js';
import { type LeaseRecord, type LeaseStore, OWN_IDS, sameRecord } from '../../lease/port.js';
import { conditionally, deleteItems, type Item, readItems, scan } from './connection.js';
import type { CheckedTable } from './schema.js';

/** The attributes of a lease item, besides the table's hash key. */
export const LEASE_ATTRIBUTES = ['namespace', 'node', 'owner', 'epoch', 'fence', 'expiresAt', 'label'];

/** Leases in a DynamoDB table: an item for each node id. */
export function dynamodbLeases({
  table,
  hashKey,
  request,
  create,
}: CheckedTable): Pick<LeaseStore, 'listLeases' | 'readLeases' | 'swapLease' | 'removeTrial'> {
  // The last # ends the namespace, which may have others in it.
  const keyOf = (namespace: string, id: number): Item => ({
    [hashKey]: { S: `lease#${requireNamespace(namespace)}#${id}` },
  });
  const listLeases = async (namespace: string) => {
    const filter = {
      TableName: table,
      FilterExpression: '#namespace = :namespace',
      ExpressionAttributeNames: { '#namespace': 'namespace' },
      ExpressionAttributeValues: { ':namespace': { S: requireNamespace(namespace) } },
    };
    return request('listing leases', async (sdk, send) => (await scan(sdk, send, filter)).map(decode));
  };
  return {
    listLeases,

    async readLeases(namespace, first, count) {
      const ids = [...OWN_IDS, ...Array.from({ length: count }, (_, i) => first + i)];
      const keys = ids.map((id) => keyOf(namespace, id));
      return request('reading leases', async (sdk, send) =>
        (await readItems(sdk, send, table, keys)).map(decode),
      );
    },

    async swapLease(namespace, expected, next) {
      const Key = keyOf(namespace, next.id);
      const Item = { ...Key, namespace: { S: namespace }, label: { S: next.label }, ...stateOf(next) };
      const command = { TableName: table, Item, ...unchanged(expected, hashKey) };
      return create('swapping a lease', async (sdk, send) =>
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

    async removeTrial(namespace) {
      const keys = (await listLeases(requireTrial(namespace))).map(({ id }) => keyOf(namespace, id));
      await request('removing leases', (sdk, send) => deleteItems(sdk, send, table, keys));
    },
  };
}

/** The attributes that a swap compares. A free record has no owner. */
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
