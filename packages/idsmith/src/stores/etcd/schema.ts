import { decodeSchema, encodeSchema, type SchemaGate, type SchemaMarker } from '../schema-version.js';
import { type Ask, fromBase64, toBase64 } from './connection.js';

/** The marker in etcd: one key. */
export function etcdMarker(ask: Ask, name: string): SchemaMarker {
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
export function checkedAsk(ask: Ask, schema: SchemaGate): Ask {
  return async (operation, path, body = undefined) => {
    await (body !== undefined && 'compare' in body ? schema.mark(operation) : schema.admit(operation));
    return ask(operation, path, body);
  };
}
