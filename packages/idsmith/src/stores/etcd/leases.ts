import { requireNamespace, requireTrial, STORE_NAMESPACE } from '../../lease/namespace.js';
import { type LeaseRecord, type LeaseStore, OWN_IDS } from '../../lease/port.js';
import { NAMESPACE_ID } from '../../lease/protocol.js';
import { fromBase64, type KeyValue, rangeOf, rangesIn, timeOf, toBase64 } from './connection.js';
import type { EtcdLineage } from './lineage.js';

/**
 * Leases in etcd. A record is two keys, `<root><namespace>/<id>` and `<root><namespace>/<id>/label`, so that a transaction can
 * compare all of the record but the label.
 */
export function etcdLeases(
  lineage: EtcdLineage,
  root: string,
): Required<
  Pick<
    LeaseStore,
    'now' | 'moment' | 'namespaces' | 'listLeases' | 'readLeases' | 'swapLease' | 'claimLease' | 'removeTrial'
  >
> {
  const { ask } = lineage;
  const folderOf = (namespace: string) => `${root}${encodeURIComponent(requireNamespace(namespace))}/`;

  async function swap(
    namespace: string,
    expected: LeaseRecord | undefined,
    next: LeaseRecord,
    label: string | undefined,
    conditions: object[] = [],
  ): Promise<boolean> {
    const name = `${folderOf(namespace)}${next.id}`;
    const puts = [
      { key: toBase64(name), value: toBase64(stateOf(next)) },
      { key: toBase64(`${name}/label`), value: toBase64(next.label) },
    ];
    const reply = await lineage.commit(
      'swapping a lease',
      label,
      [is(name, expected), ...conditions],
      puts.map((put) => ({ request_put: put })),
    );
    return reply !== undefined;
  }

  return {
    now: async () => timeOf(await ask('reading the clock', '/version')),

    async moment() {
      const present = await lineage.present();
      const response = await ask('reading the clock', '/v3/kv/txn', { success: [lineage.range] });
      const [own] = rangesIn(response.reply);
      return { now: timeOf(response), lineage: present && lineage.textIn(own) };
    },

    async namespaces() {
      const { key: start, range_end } = rangeOf(root);
      const names: string[] = [];
      // One key of each namespace. The next request begins after the last key of its folder.
      for (let key = start; ; ) {
        const range = { key, range_end, limit: '1', keys_only: true };
        const { reply } = await ask('listing namespaces', '/v3/kv/range', range);
        const [found] = reply.kvs ?? [];
        if (found === undefined) return names.filter((name) => name !== STORE_NAMESPACE).sort();
        const name = fromBase64(found.key).slice(root.length);
        const folder = root + name.slice(0, name.indexOf('/') + 1);
        names.push(decodeURIComponent(name.slice(0, name.indexOf('/'))));
        key = rangeOf(folder).range_end;
      }
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
      return recordsIn(folder, rangesIn(reply).flat());
    },

    async swapLease(namespace, expected, next) {
      // A holder whose record is the last one needs no more proof.
      const isOwn = next.id === NAMESPACE_ID && (await lineage.present()) !== undefined;
      return swap(namespace, expected, next, isOwn ? next.label : undefined);
    },

    async claimLease(namespace, expected, next, birth) {
      const label = (await lineage.present()) === undefined ? undefined : birth.label;
      const isBorn = is(`${folderOf(namespace)}${birth.id}`, birth);
      return swap(namespace, expected, next, label, [isBorn]);
    },

    async removeTrial(namespace) {
      await ask('removing leases', '/v3/kv/deleterange', rangeOf(folderOf(requireTrial(namespace))));
    },
  };
}

/** The records of the keys in a folder. */
function recordsIn(folder: string, found: readonly KeyValue[]): LeaseRecord[] {
  const values = new Map(
    found.map(({ key, value = '' }) => [fromBase64(key).slice(folder.length), fromBase64(value)]),
  );
  const ids = [...values.keys()].filter((name) => !name.endsWith('/label'));
  return ids.map((id) => decode(values.get(id)!, values.get(`${id}/label`) ?? ''));
}

/** The condition that a key holds this record, or nothing. */
const is = (name: string, record: LeaseRecord | undefined) => ({
  key: toBase64(name),
  result: 'EQUAL',
  ...(record === undefined
    ? { target: 'VERSION', version: '0' }
    : { target: 'VALUE', value: toBase64(stateOf(record)) }),
});

/** The text that a swap compares, always the same for the same values. */
const stateOf = ({ id, owner, epoch, fence, expiresAt }: LeaseRecord) =>
  JSON.stringify([id, owner, epoch, fence, expiresAt]);

function decode(state: string, label: string): LeaseRecord {
  const [id, owner, epoch, fence, expiresAt] = JSON.parse(state);
  return { id, owner, epoch, fence, expiresAt, label };
}
