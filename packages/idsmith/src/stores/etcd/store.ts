import { InvalidOptionError } from '../../errors.js';
import { requireNamespace } from '../../lease/namespace.js';
import type { LeaseRecord } from '../../lease/port.js';
import { refuse, requireChoice, requireKnown } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { requireSettings } from '../driver.js';
import type { Store } from '../memory/store.js';
import { asker, type EtcdStoreOptions, fromBase64, rangeOf, toBase64 } from './connection.js';
import { etcdRows } from './sequences.js';

export type { EtcdStoreOptions };

/**
 * A store in etcd 3.4 or later, through its JSON gateway. Reads are linearizable. A record is two keys,
 * `idsmith/lease/<namespace>/<id>` and `…/<id>/label`, so that a transaction can compare all but the label.
 * A sequence is a folder, `idsmith/sequence/<name>/`.
 *
 * @throws InvalidOptionError when an option is not as it must be
 *
 * @example
 * const store = etcdStore({ endpoints: ['http://10.0.0.1:2379', 'http://10.0.0.2:2379'] });
 */
export function etcdStore(options: EtcdStoreOptions): Store {
  const known = ['endpoints', 'prefix', 'timeout', 'headers', 'fetch'];
  const { prefix = 'idsmith/' } = requireKnown('options', options, known);
  if (typeof prefix !== 'string') refuse('prefix', 'text', prefix);
  const ask = asker(options);
  const folderOf = (namespace: string) =>
    `${prefix}lease/${encodeURIComponent(requireNamespace(namespace))}/`;
  return {
    ...sequenceStore(etcdRows(ask, `${prefix}sequence/`)),
    durable: true,

    async now() {
      const { headers } = await ask('reading the clock', '/version');
      // Whole seconds, rounded down: the middle is half a second off at most.
      return Date.parse(headers.get('date')!) + 500;
    },

    async listLeases(namespace) {
      const folder = folderOf(namespace);
      const { reply } = await ask('listing leases', '/v3/kv/range', rangeOf(folder));
      const pairs = (reply.kvs ?? []).map(
        ({ key, value = '' }) => [fromBase64(key).slice(folder.length), fromBase64(value)] as const,
      );
      const values = new Map(pairs);
      const ids = [...values.keys()].filter((name) => !name.endsWith('/label'));
      return ids.map((id) => decode(values.get(id)!, values.get(`${id}/label`) ?? ''));
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

    async close() {},
  };
}

/** What a swap compares: always the same text for the same values. */
const stateOf = ({ id, owner, epoch, fence, expiresAt }: LeaseRecord) =>
  JSON.stringify([id, owner, epoch, fence, expiresAt]);

function decode(state: string, label: string): LeaseRecord {
  const [id, owner, epoch, fence, expiresAt] = JSON.parse(state);
  return { id, owner, epoch, fence, expiresAt, label };
}

/**
 * The store of a URL like `etcd://host:2379,host:2379?tls=true&prefix=idsmith/&timeout=5000`; only the hosts are needed.
 *
 * @throws InvalidOptionError when the URL is not of that form
 */
export async function openEtcd(url: string): Promise<Store> {
  const [, hosts, query] = /^etcd:\/\/([^/?#@]+)\/?(?:\?([^#]*))?$/i.exec(url) ?? [];
  if (hosts === undefined)
    throw new InvalidOptionError(
      'an etcd URL must look like etcd://host:2379,host:2379, without credentials',
    );
  const settings = new URLSearchParams(query);
  requireSettings('an etcd URL', settings, ['tls', 'prefix', 'timeout']);
  const tls = requireChoice('tls', settings.get('tls') ?? 'false', ['false', 'true']) === 'true';
  const [prefix, timeout] = [settings.get('prefix'), settings.get('timeout')];
  return etcdStore({
    endpoints: hosts
      .split(',')
      .map((host) => `${tls ? 'https' : 'http'}://${host}${/:\d+$/.test(host) ? '' : ':2379'}`),
    ...(prefix !== null && { prefix }),
    ...(timeout !== null && { timeout: Number(timeout) }),
  });
}
