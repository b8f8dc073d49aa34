import { requireNamespace, requireTrial, STORE_NAMESPACE } from '../../lease/namespace.js';
import { type LeaseRecord, type LeaseStore, OWN_IDS, sameRecord } from '../../lease/port.js';
import { NAMESPACE_ID } from '../../lease/protocol.js';
import { type CheckedTable, conditionally, deleteItems, type Item, readItems, scan } from './connection.js';

/** The attributes of a lease item, besides the table's hash key. */
export const LEASE_ATTRIBUTES = ['namespace', 'node', 'owner', 'epoch', 'fence', 'expiresAt', 'label'];

/** Leases in a DynamoDB table: an item for each node id. */
export function dynamodbLeases({
  table,
  hashKey,
  lineage,
  request,
  create,
}: CheckedTable): Pick<
  LeaseStore,
  'namespaces' | 'listLeases' | 'readLeases' | 'swapLease' | 'claimLease' | 'removeTrial'
> {
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
  async function swap(
    namespace: string,
    expected: LeaseRecord | undefined,
    next: LeaseRecord,
  ): Promise<boolean> {
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
  }

  /** Tells whether the table has this lineage, or tells none. */
  async function isPresent(label: string): Promise<boolean> {
    const present = await request('reading the lineage', (sdk) => lineage.present(sdk));
    return present === undefined || present === label;
  }

  async function isBirth(namespace: string, birth: LeaseRecord): Promise<boolean> {
    const found = await request('reading leases', (sdk, send) =>
      readItems(sdk, send, table, [keyOf(namespace, birth.id)]),
    );
    return sameRecord(found[0] && decode(found[0]), birth);
  }

  return {
    async namespaces() {
      const filter = {
        TableName: table,
        FilterExpression: 'attribute_exists(#namespace)',
        ProjectionExpression: '#namespace',
        ExpressionAttributeNames: { '#namespace': 'namespace' },
      };
      const items = await request('listing namespaces', (sdk, send) => scan(sdk, send, filter));
      const names = new Set(items.map(({ namespace }) => namespace?.S ?? ''));
      return [...names].filter((name) => name !== STORE_NAMESPACE).sort();
    },

    listLeases,

    async readLeases(namespace, first, count) {
      const ids = [...OWN_IDS, ...Array.from({ length: count }, (_, i) => first + i)];
      const keys = ids.map((id) => keyOf(namespace, id));
      return request('reading leases', async (sdk, send) =>
        (await readItems(sdk, send, table, keys)).map(decode),
      );
    },

    async swapLease(namespace, expected, next) {
      // A holder whose record is the last one needs no more proof.
      if (next.id === NAMESPACE_ID && !(await isPresent(next.label))) return false;
      return swap(namespace, expected, next);
    },

    // Two steps: the record of the namespace is read again after the claim. If it is the same then, it was at the claim.
    async claimLease(namespace, expected, next, birth) {
      if (!(await isPresent(birth.label)) || !(await isBirth(namespace, birth))) return false;
      if (!(await swap(namespace, expected, next))) return false;
      return (await isBirth(namespace, birth)) && isPresent(birth.label);
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
