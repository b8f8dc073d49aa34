// Makes dist/handler.mjs: one file with idsmith and the driver inside, to be zipped and uploaded.

import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

await build({
  entryPoints: [here('handler.mjs')],
  outfile: process.argv[2] ?? here('dist/handler.mjs'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // Some drivers call require, which modules do not have.
  banner: {
    js: "import { createRequire as make } from 'node:module'; const require = make(import.meta.url);",
  },
  // Drivers of other stores. idsmith loads a driver only for a URL of its store. Lambda has the AWS SDK, but a bundled one starts faster.
  external: ['libsql', 'pg', 'mysql2', 'redis', 'ioredis', '@noble/ciphers'],
});
