// Compiles the Lua scripts of each package into one module.
//
//   npm run lua                          writes the modules; run it after a change of a script
//   node scripts/build-lua.mjs --check   fails if a module differs from its scripts

import { readFileSync, writeFileSync } from 'node:fs';
import { compileScripts } from './compile-lua.mjs';

const STORE = 'packages/idsmith/src/stores/redis';
const SHARD = 'packages/shard/src';

const modules = {
  [`${STORE}/scripts.ts`]: compileScripts(STORE, {
    constants: '../../sequence/blocks.js',
    exported: ['clock', 'on-master'],
  }),
  [`${SHARD}/redis/scripts.ts`]: compileScripts(SHARD, {
    others: { folder: STORE, from: 'idsmith/internal' },
  }),
};
for (const [module, text] of Object.entries(modules)) {
  if (!process.argv.includes('--check')) writeFileSync(module, text);
  else if (readFileSync(module, 'utf8') !== text) {
    console.error(`${module} differs from its scripts: npm run lua`);
    process.exitCode = 1;
  }
}
