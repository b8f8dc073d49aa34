import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The files beside the folders: clock, errors, options, random. */
const BASE = 'base';

/** A file belongs to the room with the longest name that its path begins with. Tests have the same folders as sources. */
export const ROOMS = [
  BASE,
  'encoding',
  'support',
  'runtime',
  'redis',
  'drivers',
  'lease',
  'locality',
  'flake',
  'uuid7',
  'sequence',
  'series',
  'connect',
  'inspect',
  'schema',
  'public',
  'stores',
  'stores/sql',
  'stores/memory',
  'stores/sqlite',
  'stores/postgres',
  'stores/mysql',
  'oracle',
  'stores/redis',
  'stores/etcd',
  'stores/dynamodb',
  'stores/http',
  'shard',
  'shard/keys',
  'shard/ring',
  'shard/config',
  'shard/redis',
  'shard/mint',
  'shard/map',
  'shard/reshard',
  'shard/transition',
  'shard/shardjs',
];

/** Files that tests load and that are not the core. */
export const OTHER_FILES = [
  'test/**',
  'scripts/**',
  '**/dist/**',
  'packages/{server,console,fastify,nest}/**',
  'packages/{idsmith,shard,oracle}/{test,bin}/**',
  'packages/{idsmith,shard}/src/{cli,testing}/**',
];

/** Tests that take long, or run little else than built files in processes of their own. */
const SLOW = [
  /^lease\/(model|simulation|storms|process)\.test/,
  /^(flake|locality)\/(threads|containers)\.test/,
  /^sequence\/(every-store|database-outage)\.test/,
  /^shard\/redis\/(half-open|redis-cluster)(\.slow)?\.test/,
  /^shard\/reshard\/(.*-load|to-cluster-.*|crashed-nodes|lost-.*|full-nodes|durability)(\.slow)?\.test/,
];

/** The path of a source or test for short, as in rooms: `lease/port.ts`, `shard/mint/minter.ts`. */
export function shortPath(file) {
  const [, pack, path] = /^packages\/(\w+)\/(?:src|test)\/(.*)$/.exec(relative(ROOT, file)) ?? [];
  return pack === 'idsmith' ? path : `${pack}/${path}`;
}

/** The room of a file, from its short path. */
function roomOf(path) {
  if (!path.includes('/')) return BASE;
  const rooms = ROOMS.filter((room) => path.startsWith(`${room}/`));
  return rooms.sort((a, b) => b.length - a.length)[0];
}

/** The test files of a room, as paths from the root. */
export function testsOf(room, withSlow) {
  return filesIn('test', '.test.ts')
    .filter((file) => roomOf(shortPath(file)) === room)
    .filter((file) => withSlow || !SLOW.some((pattern) => pattern.test(shortPath(file))))
    .map((file) => relative(ROOT, file));
}

/** The sources of a room, as full paths. */
export function sourcesOf(room) {
  return filesIn('src', '.ts').filter((file) => roomOf(shortPath(file)) === room);
}

function filesIn(folder, end) {
  return ['idsmith', 'shard', 'oracle'].flatMap((pack) => {
    const home = join(ROOT, 'packages', pack, folder);
    return readdirSync(home, { recursive: true })
      .filter((path) => path.endsWith(end))
      .sort()
      .map((path) => join(home, path));
  });
}
