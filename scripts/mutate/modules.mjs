// The modules whose lines are mutated, and the tests that ought to notice.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findMutants } from './operators.mjs';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LIBRARY = 'packages/idsmith';
const SHARD = 'packages/shard';

/** The `first` tests are about the module itself. `slow` tests come last, for mutants that the others have not noticed. Tests that start processes see the built files, without mutants. */
const MODULES = {
  lease: {
    files: [...all('lease')],
    first: [
      'protocol',
      'options',
      'limits',
      'pages',
      'timers',
      'layout',
      'events',
      'node-wait',
      'acquire',
      'founding',
      'diagnostics',
      'when-active',
      'renewal',
    ].map((name) => testFile(`lease/${name}`)),
    tests: [
      ...testsOf('lease', ['process', 'storms.slow', 'volatile-store.slow', 'model', 'simulation']),
      ...['lineage/lineage', 'flake/leased', 'locality/lease'].map((name) => testFile(name)),
    ],
    slow: ['flake/lease-window', 'uuid7/lease', 'lease/simulation', 'lease/model'].map((name) =>
      testFile(name),
    ),
  },
  // A store that goes back in time: the room of that name, and who asks it about numbers.
  lineage: {
    files: [...all('lineage'), `${LIBRARY}/src/sequence/past.ts`, `${LIBRARY}/src/stores/make-store.ts`],
    first: ['lineage/judge', 'lineage/ceiling', 'sequence/past', 'stores/make-store', 'lineage/lineage'].map(
      (name) => testFile(name),
    ),
    tests: [
      ...[
        'lineage/covered-loss',
        'stores/closing',
        'sequence/rows',
        'sequence/alter',
        'stores/memory/store',
        'lease/diagnostics',
        'lease/acquire',
      ].map((name) => testFile(name)),
    ],
    slow: [],
  },
  blocks: {
    files: ['block', 'blocks', 'rows'].map((name) => `${LIBRARY}/src/sequence/${name}.ts`),
    first: [
      'sequence/blocks',
      'sequence/alter',
      'sequence/rows',
      'sequence/lineage-rows',
      'stores/memory/store',
    ].map((name) => testFile(name)),
    tests: [...testsOf('sequence', ['database-outage', 'every-store.slow']), testFile('lineage/lineage')],
    slow: [],
  },
  sequence: {
    files: ['sequence', 'block'].map((name) => `${LIBRARY}/src/sequence/${name}.ts`),
    first: ['id-buffer', 'fetching', 'idle-ids', 'waiting', 'sequence'].map((name) =>
      testFile(`sequence/${name}`),
    ),
    tests: testsOf('sequence', ['database-outage', 'every-store.slow']),
    slow: [],
  },
  mint: {
    files: [...all('mint', SHARD)],
    // The simulated worlds take no servers. The tests with real ones come last.
    first: [
      'mint-request',
      'merge-keys',
      'mint-bounds',
      'minting-nodes',
      'next-node',
      'node-sequence',
      'open-sequences',
      'handover-protocol',
      'next-generation',
      'minter-calls',
      'minter-failures',
      'minter-node-order',
      'minter-proofs',
      'minter-conflicts',
      'minter-shares',
      'minter-clocks',
      'simulated-worlds',
    ].map((name) => testFile(`mint/${name}`, SHARD)),
    tests: testsOf('mint', ['signals', 'many-nodes.slow', 'minter.slow'], SHARD),
    slow: ['mint/minter.slow', 'mint/many-nodes.slow'].map((name) => testFile(name, SHARD)),
  },
  reshard: {
    files: [...all('reshard', SHARD), `${SHARD}/src/transition/abort-reshard.ts`],
    // Tests of pure parts take no servers. Those with real ones come last.
    first: [
      'compare-states',
      'options',
      'move-batch',
      'progress',
      'move-all-keys',
      'durability-barrier',
      'phase',
      'abort-two-servers',
      'to-cluster-abort.slow',
      'reshard-two-servers',
      'key-mover',
    ].map((name) => testFile(`reshard/${name}`, SHARD)),
    tests: [
      ...testsOf('reshard', ['key-mover-interleavings.slow'], SHARD),
      ...['rounds', 'reshard', 'abort.slow', 'reshard-failures', 'crashed-nodes.slow', 'lost-nodes.slow'].map(
        (name) => testFile(`reshard/${name}`, SHARD),
      ),
    ],
    slow: [testFile('reshard/key-mover-interleavings.slow', SHARD)],
  },
};

export const MODULE_NAMES = Object.keys(MODULES);

/** The files, tests and mutants of a module. Mutants are numbered from 1, and have a key that stays when lines move. */
export function loadModule(name) {
  const { files, first = [], tests, slow } = MODULES[name];
  const seen = new Map();
  const mutants = files.flatMap((file) =>
    findMutants(readFileSync(join(ROOT, file), 'utf8')).map((mutant) => {
      const plain = `${file.replace(/^packages\/(?:idsmith\/src\/)?/, '').replace('/src/', '/')} ${mutant.where}: ${oneLine(mutant.from)} → ${oneLine(mutant.to)}`;
      const times = (seen.get(plain) ?? 0) + 1;
      seen.set(plain, times);
      return { ...mutant, file, key: times === 1 ? plain : `${plain} #${times}` };
    }),
  );
  return {
    files,
    first,
    tests,
    slow,
    mutants: mutants.map((mutant, index) => ({ ...mutant, number: index + 1 })),
  };
}

const oneLine = (text) => text.replace(/\s+/g, ' ').trim() || 'nothing';

function all(folder, pack = LIBRARY) {
  return namesIn(`${pack}/src/${folder}`, '.ts').map((name) => `${pack}/src/${folder}/${name}`);
}

function testsOf(folder, left, pack = LIBRARY) {
  return namesIn(`${pack}/test/${folder}`, '.test.ts')
    .filter((name) => !left.includes(basename(name, '.test.ts')))
    .map((name) => `${pack}/test/${folder}/${name}`);
}

function testFile(name, pack = LIBRARY) {
  return `${pack}/test/${name}.test.ts`;
}

function namesIn(folder, end) {
  return readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(end));
}
