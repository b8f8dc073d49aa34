import { refuse, requireKnown } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { makeStore } from '../make-store.js';
import type { DisposableStore } from '../store.js';
import { asker, type EtcdStoreOptions } from './connection.js';
import { etcdLeases } from './leases.js';
import { etcdRows } from './sequences.js';

/**
 * A store in etcd 3.4 or later, through etcd's JSON gateway. Reads are linearizable. A lease record is two keys,
 * `idsmith/lease/<namespace>/<id>` and `…/<id>/label`. A sequence is a folder, `idsmith/sequence/<name>/`.
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
  return makeStore('etcd', {
    ...etcdLeases(ask, `${prefix}lease/`),
    ...sequenceStore(etcdRows(ask, `${prefix}sequence/`)),
    durable: true,
  });
}
