import { warn } from '#runtime';
import type { ScriptRunner } from '../../redis/script-runner.js';
import { decodeSchema, encodeSchema, type SchemaGate, type SchemaMarker } from '../schema-version.js';
import { CONFIRM_NAMES, READ_SCHEMA, SWAP_LEASE, WRITE_REGISTRY, WRITE_SCHEMA } from './scripts.js';

const MARKER = ['idsmith:schema'];

/** The scripts that may be the first to write into an empty store. */
const CREATING: readonly string[] = [SWAP_LEASE, WRITE_REGISTRY, CONFIRM_NAMES];

/** Runs the scripts of a store. */
export type StoreScripts = Pick<ScriptRunner, 'run'>;

/** The scripts of a store whose schema is checked before the first of them, and marked before something is created. */
export function checkedScripts(runner: ScriptRunner, schema: SchemaGate): StoreScripts {
  return {
    async run(operation, script, keys, args) {
      await (CREATING.includes(script) ? schema.mark(operation) : schema.admit(operation));
      return runner.run(operation, script, keys, args);
    },
  };
}

/** The marker in Redis: the text of the key `idsmith:schema`, on one node of a Cluster. */
export function redisMarker(runner: ScriptRunner): SchemaMarker {
  return {
    async read(operation) {
      const [found, evictions] = (await runner.run(operation, READ_SCHEMA, MARKER)) as unknown[];
      warnOfEvictions(String(evictions ?? ''));
      return found === null || found === undefined ? undefined : decodeSchema(String(found));
    },
    async write(schema) {
      await runner.run('writing the schema version', WRITE_SCHEMA, MARKER, [encodeSchema(schema)]);
    },
    // The second is the answer of a server before version 7 to a script whose command the user may not run.
    isForbidden: (error) => /\bNOPERM\b|The user executing the script can't/.test((error as Error).message),
  };
}

/** Keys of the store never expire, so policies that evict keys with an expiry do not touch them. Without a limit of memory nothing is evicted. */
function warnOfEvictions(evictions: string): void {
  const [policy = '', limit] = evictions.split(' ');
  if (!policy.startsWith('allkeys-') || limit === '0') return;
  warn(
    `the Redis has maxmemory-policy = ${policy} and maxmemory = ${limit}: when it is full, it removes leases and sequences. Then processes wait, ` +
      'and sequences refuse. Set maxmemory-policy = noeviction: see docs/stores.md',
    'STORE_EVICTS_KEYS',
  );
}
