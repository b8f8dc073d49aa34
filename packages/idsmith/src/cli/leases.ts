import { requireNamespace } from '../lease/namespace.js';
import type { LeaseRecord } from '../lease/port.js';
import { show } from '../options.js';
import { digestOf } from '../stores/http/owners.js';
import { type Command, UsageError } from './command.js';
import { table } from './output.js';
import { storeFlags, withStore } from './store.js';
import { jsonText } from './visible.js';

export const leasesCommand: Command = {
  name: 'leases',
  usage: '--store URL --namespace NAME',
  summary: 'List the node ids of a namespace and who holds them',
  example: 'idsmith leases --store sqlite:./ids.db --namespace jflake',
  flags: {
    ...storeFlags('the store of the leases'),
    namespace: { type: 'string', value: 'NAME', help: 'the namespace of the leases' },
  },
  run(given) {
    const namespace = given.text('namespace');
    if (namespace === undefined) throw new UsageError('leases needs --namespace');
    requireNamespace(namespace);
    return withStore(given, false, async function* (store) {
      const now = (await store.now?.()) ?? Date.now();
      const records = (await store.listLeases(namespace))
        // Records with an id below 0 belong to the namespace itself.
        .filter(({ id }) => id >= 0)
        .sort((a, b) => a.id - b.id);
      if (given.on('json')) {
        const leases = await Promise.all(records.map(withoutSecret));
        yield jsonText({ namespace, now, leases }, 2);
      } else if (records.length === 0) yield `namespace ${show(namespace)} has no leases yet`;
      else
        yield* table(
          ['node', 'state', 'holder', 'term', 'fence'],
          records.map((record) => row(record, now)),
        );
    });
  },
};

function row({ id, owner, epoch, fence, expiresAt, label }: LeaseRecord, now: number): string[] {
  const left = Math.ceil((expiresAt - now) / 1000);
  const state = owner === null ? 'free' : left > 0 ? `held, ${left} s left` : 'expired';
  return [String(id), state, owner === null ? '' : label, String(epoch), new Date(fence).toISOString()];
}

/** The record with a digest in place of its owner, which is a secret: it can renew the lease. A server sends digests. */
async function withoutSecret(record: LeaseRecord): Promise<LeaseRecord> {
  const { owner } = record;
  return owner === null || owner.startsWith('sha256:') ? record : { ...record, owner: await digestOf(owner) };
}
