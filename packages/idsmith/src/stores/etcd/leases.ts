import { requireNamespace, requireTrial } from '../../lease/namespace.js';
import { type LeaseRecord, type LeaseStore, OWN_IDS } from '../../lease/port.js';
import { type Ask, fromBase64, rangeOf, toBase64 } from './connection.js';

/**
 * Leases in etcd. A record is two keys, `<root><namespace>/<id>` and `<root><namespace>/<id>/label`, so that a transaction can
 * compare all of the record but the label.
 */
export function etcdLeases(
  ask: Ask,
  root: string,
): Required<Pick<LeaseStore, 'now' | 'listLeases' | 'readLeases' | 'swapLease' | 'removeTrial'>> {
  const folderOf = (namespace: string) => `${root}${encodeURIComponent(requireNamespace(namespace))}/`;
  return {
    async now() {
      const { headers } = await ask('reading the clock', '/version');
      // Whole seconds, rounded down: the middle is half a second off at most.
      return Date.parse(headers.get('date')!) + 500;
    },

    async listLeases(namespace) {
      const folder = folderOf(namespace);
      const { reply } = await ask('listing leases', '/v3/kv/range', rangeOf(folder));
      return recordsIn(folder, reply.kvs ?? []);
    },

    async readLeases(namespace, first, count) {
      const folder = folderOf(namespace);
      const ids = [...OWN_IDS, ...Array.from({ length: count }, (_, i) => first + i)];
      // From `<id>` to before `<id>0`: the record and its label, and nothing else.
      const ranges = ids.map((id) => ({
        request_range: { key: toBase64(`${folder}${id}`), range_end: toBase64(`${folder}${id}0`) },
      }));
      const { reply } = await ask('reading leases', '/v3/kv/txn', { success: ranges });
      const responses = (reply.responses ?? []) as { response_range?: { kvs?: KeyValue[] } }[];
      return recordsIn(
        folder,
        responses.flatMap(({ response_range }) => response_range?.kvs ?? []),
      );
    },

    async swapLease(namespace, expected, next) {
      const name = `${folderOf(namespace)}${next.id}`;
      const key = toBase64(name);
      const before =
        expected === undefined
          ? { target: 'VERSION', version: '0' }
          : { target: 'VALUE', value: toBase64(stateOf(expected)) };
      const puts = [
        { key, value: toBase64(stateOf(next)) },
        { key: toBase64(`${name}/label`), value: toBase64(next.label) },
      ];
      const { reply } = await ask('swapping a lease', '/v3/kv/txn', {
        compare: [{ key, result: 'EQUAL', ...before }],
        success: puts.map((put) => ({ request_put: put })),
      });
      return reply.succeeded === true;
    },

    async removeTrial(namespace) {
      await ask('removing leases', '/v3/kv/deleterange', rangeOf(folderOf(requireTrial(namespace))));
    },
  };
}

interface KeyValue {
  readonly key: string;
  readonly value?: string;
}

/** The records of the keys in a folder. */
function recordsIn(folder: string, found: readonly KeyValue[]): LeaseRecord[] {
  const values = new Map(
    found.map(({ key, value = '' }) => [fromBase64(key).slice(folder.length), fromBase64(value)]),
  );
  const ids = [...values.keys()].filter((name) => !name.endsWith('/label'));
  return ids.map((id) => decode(values.get(id)!, values.get(`${id}/label`) ?? ''));
}

/** The text that a swap compares, always the same for the same values. */
const stateOf = ({ id, owner, epoch, fence, expiresAt }: LeaseRecord) =>
  JSON.stringify([id, owner, epoch, fence, expiresAt]);

function decode(state: string, label: string): LeaseRecord {
  const [id, owner, epoch, fence, expiresAt] = JSON.parse(state);
  return { id, owner, epoch, fence, expiresAt, label };
}
