import { layouts } from '../flake/layouts.js';
import { type NamespaceSummary, requireNamespace, summarise } from '../lease/namespace.js';
import type { LeaseRecord } from '../lease/port.js';
import { show } from '../options.js';
import { digestOf } from '../stores/http/leases.js';
import type { Store } from '../stores/store.js';
import { type Command, UsageError } from './command.js';
import { storeFlags, withStore } from './store.js';
import { jsonText, table } from './text.js';

export const leasesCommand: Command = {
  name: 'leases',
  usage: '[NAME] --store URL',
  summary: 'List the namespaces of a store, or the node ids of one and who holds them',
  example: 'idsmith leases jflake --store sqlite:./ids.db',
  operands: 1,
  flags: {
    ...storeFlags('the store of the leases'),
    namespace: {
      type: 'string',
      value: 'NAME',
      help: 'the namespace, in place of NAME; without either, lists the namespaces',
    },
  },
  run(given) {
    const [named] = given.rest;
    const namespace = given.text('namespace') ?? named;
    if (named !== undefined && namespace !== named)
      throw new UsageError(`leases lists one namespace: ${show(named)} or --namespace ${show(namespace)}`);
    if (namespace === undefined)
      return withStore(given, false, (store) => listNamespaces(store, given.on('json')));
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

/** A line for each namespace of the store. */
async function* listNamespaces(store: Store, asJson: boolean): AsyncGenerator<string> {
  if (store.namespaces === undefined)
    throw new UsageError('this store cannot list its namespaces: name one: idsmith leases NAME');
  const now = (await store.now?.()) ?? Date.now();
  const namespaces: (NamespaceSummary & { namespace: string })[] = [];
  for (const namespace of await store.namespaces())
    namespaces.push({ namespace, ...summarise(await store.listLeases(namespace), now) });
  if (asJson) yield jsonText({ now, namespaces }, 2);
  else if (namespaces.length === 0) yield 'the store has no namespaces yet';
  else
    yield* table(['namespace', 'layout', 'node ids', 'held', 'expired', 'ever used'], namespaces.map(line));
}

function line({
  namespace,
  layout,
  nodes,
  size,
  held,
  expired,
  used,
}: NamespaceSummary & { namespace: string }): string[] {
  const ids = nodes ? `${size}: ${nodes[0]}-${nodes[1]}` : String(size ?? '');
  return [namespace, layoutName(layout), ids, String(held), String(expired), String(used)];
}

/** The name of a layout that this library has; otherwise its fingerprint. */
function layoutName(fingerprint = ''): string {
  const known = Object.entries(layouts).find(([, layout]) => layout.fingerprint === fingerprint);
  return known?.[0] ?? fingerprint;
}

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
