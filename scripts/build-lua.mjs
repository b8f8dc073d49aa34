// Compiles the Lua scripts in packages/idsmith/src/redis/scripts into packages/idsmith/src/redis/scripts.ts.
//
//   npm run lua                          writes the module; run it after a change of a script
//   node scripts/build-lua.mjs --check   fails if the module differs from the scripts
//
// Values of constants come from dist: run `npm run build` first after a change of one.

import { readFileSync, writeFileSync } from 'node:fs';
import { compileScripts } from './compile-lua.mjs';

const ROOM = 'packages/idsmith/src/redis';
const MODULE = `${ROOM}/scripts.ts`;

const text = compileScripts(`${ROOM}/scripts`, await readConstants());
if (!process.argv.includes('--check')) writeFileSync(MODULE, text);
else if (readFileSync(MODULE, 'utf8') !== text) {
  console.error(`${MODULE} differs from the scripts: npm run lua`);
  process.exitCode = 1;
}

/** The values that scripts can name. Each of them is defined once, in the TypeScript sources. */
async function readConstants() {
  const load = (path) => import(new URL(`../packages/idsmith/dist/${path}`, import.meta.url).href);
  const words = await load('redis/script-constants.js');
  const { UNMARKED } = await load('sequence/blocks.js');
  const { VARIANTS } = await load('shard/keys/codec.js');
  const spans = await load('shard/mint/variants.js');
  return {
    ...words,
    UNMARKED,
    LAST_VARIANT: VARIANTS - 1,
    FRESH_FIRST: spans.FRESH_VARIANTS.first,
    FRESH_LAST: spans.FRESH_VARIANTS.last,
    HANDOVER_FIRST: spans.HANDOVER_VARIANTS.first,
    HANDOVER_LAST: spans.HANDOVER_VARIANTS.last,
    UNSURE_FIRST: spans.UNSURE_VARIANTS.first,
    UNSURE_LAST: spans.UNSURE_VARIANTS.last,
  };
}
