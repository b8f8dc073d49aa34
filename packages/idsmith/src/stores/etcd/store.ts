import { InvalidOptionError } from '../../errors.js';
import { refuse, requireChoice, requireInteger, requireKnown } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { makeStore } from '../make-store.js';
import { decodeSchema, encodeSchema, SchemaGate, type SchemaMarker } from '../schema-version.js';
import type { DisposableStore } from '../store.js';
import { requireSettings } from '../url.js';
import { type AskEtcd, asker, type EtcdStoreOptions, fromBase64, toBase64 } from './connection.js';
import { etcdLeases } from './leases.js';
import { EtcdLineage } from './lineage.js';
import { etcdPasts, etcdRows } from './sequences.js';

/**
 * A store in etcd 3.4 or later, through etcd's JSON gateway. Reads are linearizable. A lease record is two keys,
 * `idsmith/lease/<namespace>/<id>` and `…/<id>/label`. A sequence is a folder, `idsmith/sequence/<name>/`, and a ceiling,
 * `idsmith/past/<name>`. The key `idsmith/schema` tells the version of this form, and `idsmith/lineage` the lineage of the data.
 *
 * @throws InvalidOptionError when an option is wrong
 *
 * @example
 * const store = etcdStore({ endpoints: ['http://10.0.0.1:2379', 'http://10.0.0.2:2379'] });
 */
export function etcdStore(options: EtcdStoreOptions): DisposableStore {
  const known = ['endpoints', 'prefix', 'timeout', 'headers', 'fetch', 'maxJump'];
  const { prefix = 'idsmith/', maxJump } = requireKnown('options', options, known);
  if (typeof prefix !== 'string') refuse('prefix', 'text', prefix);
  const ask = asker(options);
  const schema = new SchemaGate('etcd', etcdMarker(ask, `${prefix}schema`));
  if (maxJump !== undefined) requireInteger('maxJump', maxJump, 1, Number.MAX_SAFE_INTEGER);
  const lineage = new EtcdLineage(checkedAsk(ask, schema), `${prefix}lineage`);
  const pasts = etcdPasts(lineage, `${prefix}past/`, maxJump);
  const sequences = sequenceStore(etcdRows(lineage, `${prefix}sequence/`, pasts));
  const methods = {
    ...etcdLeases(lineage, `${prefix}lease/`),
    ...sequences,
    warnings: () => [...lineage.warnings, ...(sequences.warnings?.() ?? [])],
    schemaVersion: () => schema.admit(),
    durable: true,
  };
  return makeStore('etcd', methods);
}

/**
 * The store of a URL like `etcd://host:2379,host:2379?tls=true&prefix=idsmith/&timeout=5000&maxJump=1000000`. Only the hosts are required.
 *
 * @throws InvalidOptionError when the URL is not of that form
 */
export async function openEtcd(url: string): Promise<DisposableStore> {
  const [, hosts, query] = /^etcd:\/\/([^/?#@]+)\/?(?:\?([^#]*))?$/i.exec(url) ?? [];
  if (hosts === undefined)
    throw new InvalidOptionError(
      'an etcd URL must look like etcd://host:2379,host:2379, without credentials',
    );
  const settings = new URLSearchParams(query);
  requireSettings('an etcd URL', settings, ['tls', 'prefix', 'timeout', 'maxJump']);
  const tls = requireChoice('tls', settings.get('tls') ?? 'false', ['false', 'true']) === 'true';
  const [prefix, timeout, maxJump] = ['prefix', 'timeout', 'maxJump'].map((name) => settings.get(name));
  return etcdStore({
    endpoints: hosts
      .split(',')
      .map((host) => `${tls ? 'https' : 'http'}://${host}${/:\d+$/.test(host) ? '' : ':2379'}`),
    ...(prefix != null && { prefix }),
    ...(timeout != null && { timeout: Number(timeout) }),
    ...(maxJump != null && { maxJump: Number(maxJump) }),
  });
}

/** The marker in etcd: one key. */
export function etcdMarker(ask: AskEtcd, name: string): SchemaMarker {
  const key = toBase64(name);
  return {
    async read(operation) {
      const { reply } = await ask(operation, '/v3/kv/range', { key });
      const [found] = reply.kvs ?? [];
      return found && decodeSchema(fromBase64(found.value ?? ''));
    },
    async write(schema) {
      await ask('writing the schema version', '/v3/kv/txn', {
        compare: [{ key, result: 'EQUAL', target: 'VERSION', version: '0' }],
        success: [{ request_put: { key, value: toBase64(encodeSchema(schema)) } }],
      });
    },
    isForbidden: (error) => /permission denied/.test((error as Error).message),
  };
}

/** Asks an etcd whose schema is checked before the first request, and marked before the first change. A change has conditions. */
export function checkedAsk(ask: AskEtcd, schema: SchemaGate): AskEtcd {
  return async (operation, path, body = undefined) => {
    await (body !== undefined && 'compare' in body ? schema.mark(operation) : schema.admit(operation));
    return ask(operation, path, body);
  };
}
