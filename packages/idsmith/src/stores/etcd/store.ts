import { refuse, requireKnown } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { makeStore } from '../make-store.js';
import { SchemaGate } from '../schema-version.js';
import type { DisposableStore } from '../store.js';
import { asker, type EtcdStoreOptions } from './connection.js';
import { etcdLeases } from './leases.js';
import { checkedAsk, etcdMarker } from './schema.js';
import { etcdRows } from './sequences.js';

/**
 * A store in etcd 3.4 or later, through etcd's JSON gateway. Reads are linearizable. A lease record is two keys,
 * `idsmith/lease/<namespace>/<id>` and `…/<id>/label`. A sequence is a folder, `idsmith/sequence/<name>/`. The key `idsmith/schema`
 * tells the version of this form.
 *
 * @throws InvalidOptionError when an option is wrong
 *
 * @example
 * const store = etcdStore({ endpoints: ['http://10.0.0.1:2379', 'http://10.0.0.2:2379'] });
 */
export function etcdStore(options: EtcdStoreOptions): DisposableStore {
  const known = ['endpoints', 'prefix', 'timeout', 'headers', 'fetch'];
  const { prefix = 'idsmith/' } = requireKnown('options', options, known);
  if (typeof prefix !== 'string') refuse('prefix', 'text', prefix);
  const ask = asker(options);
  const schema = new SchemaGate('etcd', etcdMarker(ask, `${prefix}schema`));
  const checked = checkedAsk(ask, schema);
  const methods = {
    ...etcdLeases(checked, `${prefix}lease/`),
    ...sequenceStore(etcdRows(checked, `${prefix}sequence/`)),
    schemaVersion: () => schema.admit(),
    durable: true,
  };
  return makeStore('etcd', methods);
}
