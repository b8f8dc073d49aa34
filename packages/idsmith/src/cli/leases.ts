import type { LeaseRecord } from '../lease/port.js';
import { NAMESPACE_ID } from '../lease/protocol.js';
import { type Command, UsageError } from './command.js';
import { table } from './output.js';
import { withStore } from './store.js';

export const leasesCommand: Command = {
  name: 'leases',
  usage: '--store URL --namespace NAME',
  summary: 'List the node ids of a namespace and who holds them',
  example: 'idsmith leases --store sqlite:./ids.db --namespace jflake',
  flags: {
    store: { type: 'string', value: 'URL', help: 'where the leases are' },
    namespace: { type: 'string', value: 'NAME', help: 'which of them' },
  },
  run(given) {
    const namespace = given.text('namespace');
    if (namespace === undefined) throw new UsageError('leases needs --namespace');
    return withStore(given, async function* (store) {
      const now = (await store.now?.()) ?? Date.now();
      const records = (await store.listLeases(namespace))
        .filter(({ id }) => id !== NAMESPACE_ID)
        .sort((a, b) => a.id - b.id);
      if (given.on('json')) yield JSON.stringify({ namespace, now, leases: records }, undefined, 2);
      else
        yield* table(
          ['node', 'state', 'holder', 'epoch', 'fence'],
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
