// The modules whose lines are mutated, and the tests that ought to notice.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findMutants } from './operators.mjs';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCES = 'packages/idsmith/src';
const TESTS = 'packages/idsmith/test';

/** The `first` tests are about the module itself. `slow` tests come last, for mutants that the others have not noticed. Tests that start processes see the built files, without mutants. */
const MODULES = {
  lease: {
    files: [...all('lease')],
    first: [
      ...['protocol-edges', 'protocol', 'settings-edges', 'parts-edges', 'layout-edges', 'events-edges'],
      ...['node-wait-edges', 'acquire-edges', 'diagnostics', 'when-active', 'replacement-edges'],
    ].map((name) => testFile(`lease/${name}`)),
    tests: [
      ...testsOf('lease', ['process', 'storms', 'model', 'simulation']),
      ...['flake/leased', 'locality/lease'].map(testFile),
    ],
    slow: ['flake/lease-window', 'uuid7/lease', 'lease/simulation', 'lease/model'].map(testFile),
  },
  blocks: {
    files: ['block', 'blocks', 'rows', 'row-match'].map((name) => `${SOURCES}/sequence/${name}.ts`),
    first: [
      ...['sequence/block-edges', 'sequence/alter-edges', 'sequence/rows-edges'].map(testFile),
      ...['stores/memory/store', 'sequence/blocks'].map(testFile),
    ],
    tests: testsOf('sequence', ['database-outage', 'every-store']),
    slow: [],
  },
  supply: {
    files: ['supply', 'surplus', 'waiters', 'sequence'].map((name) => `${SOURCES}/sequence/${name}.ts`),
    first: ['supply', 'surplus', 'waiters', 'give-back', 'sequence'].map((name) =>
      testFile(`sequence/${name}-edges`),
    ),
    tests: testsOf('sequence', ['database-outage', 'every-store']),
    slow: [],
  },
  mint: {
    files: [...all('shard/mint')],
    // The simulated worlds take no servers. The tests with real ones come last.
    first: [
      ...['requests-edges', 'minting-node-edges', 'sequences-edges', 'handover-edges', 'minter-edges'],
      ...['minter-turn-edges', 'minter-probe-edges', 'minter-bulk-edges', 'mint-bounds', 'merge-keys'],
      ...['minter-order-edges', 'minter-share-edges', 'minter-clock-edges', 'next-generation-edges'],
      'worlds-edges',
    ].map((name) => testFile(`shard/mint/${name}`)),
    tests: testsOf('shard/mint', ['signals', 'many-nodes', 'minter', 'outdated-edges']),
    slow: ['shard/mint/minter', 'shard/mint/many-nodes'].map(testFile),
  },
  reshard: {
    files: [...all('shard/reshard/move'), `${SOURCES}/shard/reshard/abort-reshard.ts`],
    // Tests with scripted nodes take no servers. Those with real ones come last.
    first: [
      ...['states-edges', 'parts-edges', 'values-edges', 'phase-edges', 'mover-edges', 'passes-edges'],
      ...['leftovers-edges', 'rate-limit-edges'],
      ...['abort-edges', 'abort-checks-edges', 'abort-cluster-edges', 'whole-edges', 'key-mover'],
    ].map((name) => testFile(`shard/reshard/move/${name}`)),
    tests: [
      ...testsOf('shard/reshard/move', ['key-mover-interleavings', 'usual-replies']),
      ...['rounds', 'reshard', 'abort', 'reshard-failures', 'crashed-nodes', 'lost-nodes'].map((name) =>
        testFile(`shard/reshard/${name}`),
      ),
    ],
    slow: ['shard/reshard/move/key-mover-interleavings'].map(testFile),
  },
};

export const MODULE_NAMES = Object.keys(MODULES);

/** The files, tests and mutants of a module. Mutants are numbered from 1, and have a key that stays when lines move. */
export function loadModule(name) {
  const { files, first = [], tests, slow } = MODULES[name];
  const seen = new Map();
  const mutants = files.flatMap((file) =>
    findMutants(readFileSync(join(ROOT, file), 'utf8')).map((mutant) => {
      const plain = `${file.slice(SOURCES.length + 1)} ${mutant.where}: ${oneLine(mutant.from)} → ${oneLine(mutant.to)}`;
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

function all(folder) {
  return namesIn(`${SOURCES}/${folder}`, '.ts').map((name) => `${SOURCES}/${folder}/${name}`);
}

function testsOf(folder, left) {
  return namesIn(`${TESTS}/${folder}`, '.test.ts')
    .filter((name) => !left.includes(basename(name, '.test.ts')))
    .map((name) => `${TESTS}/${folder}/${name}`);
}

function testFile(name) {
  return `${TESTS}/${name}.test.ts`;
}

function namesIn(folder, end) {
  return readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(end));
}
