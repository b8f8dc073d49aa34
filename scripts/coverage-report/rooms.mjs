import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const SOURCE_FOLDER = join(ROOT, 'packages/idsmith/src');
const TEST_FOLDER = join(ROOT, 'packages/idsmith/test');

/** The files beside the folders: clock, errors, options, random. */
const BASE = 'base';

/** A file belongs to the room with the longest name that its path begins with. Tests have the same folders as sources. */
export const ROOMS = [
  ...[BASE, 'encoding', 'support', 'runtime', 'redis', 'executor'],
  ...['lease', 'locality', 'flake', 'uuid7', 'sequence', 'series', 'connect', 'inspect', 'schema', 'public'],
  ...['stores', 'stores/sql', 'stores/memory', 'stores/sqlite', 'stores/postgres', 'stores/mysql'],
  ...['stores/oracle', 'stores/redis', 'stores/etcd', 'stores/dynamodb', 'stores/http'],
  ...['shard', 'shard/keys', 'shard/ring', 'shard/nodes', 'shard/cluster', 'shard/mint', 'shard/reshard'],
  'shardjs',
];

/** Files that tests load and that are not the core. */
export const OTHER_FILES = [
  ...['test/**', 'scripts/**', '**/dist/**', 'packages/{server,console,fastify,nest}/**'],
  ...['packages/idsmith/{test,bin}/**', 'packages/idsmith/src/{cli,testing}/**'],
];

/** Tests that take long, or run little else than built files in processes of their own. */
const SLOW = [
  /^lease\/(model|simulation|storms|process)\.test/,
  /^(flake|locality)\/(threads|containers)\.test/,
  /^sequence\/(every-store|database-outage)\.test/,
  /^shard\/nodes\/(half-open|redis-cluster)\.test/,
  /^shard\/reshard\/(.*-load|to-cluster-.*|crashed-nodes|lost-.*|full-nodes|durability)\.test/,
];

/** The room of a file, from its path within `src` or `test`. */
function roomOf(path) {
  if (!path.includes('/')) return BASE;
  const rooms = ROOMS.filter((room) => path.startsWith(`${room}/`));
  return rooms.sort((a, b) => b.length - a.length)[0];
}

/** The test files of a room, as paths from the root. */
export function testsOf(room, withSlow) {
  return readdirSync(TEST_FOLDER, { recursive: true })
    .filter((path) => path.endsWith('.test.ts') && roomOf(path) === room)
    .filter((path) => withSlow || !SLOW.some((pattern) => pattern.test(path)))
    .map((path) => `packages/idsmith/test/${path}`);
}

/** The sources of a room, as paths within `src`. */
export function sourcesOf(room) {
  return readdirSync(SOURCE_FOLDER, { recursive: true })
    .filter((path) => path.endsWith('.ts') && roomOf(path) === room)
    .sort();
}
