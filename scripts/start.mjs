// `npm start` until there is a server: a few ids of every family that exists, from the command line.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../packages/idsmith/bin/idsmith.js', import.meta.url));

const shown = [
  ['Locality UUIDs, spread over all shards', 'locality', '-n', '3'],
  ['Locality UUIDs, kept together', 'locality', '-n', '3', '--sequential'],
  ['Flakes of node 3', 'flake', '-n', '3', '--node', '3'],
  ['What such an id says', 'inspect', '20be0ffc-314a-bd53-7a50-013a65ca76d2'],
];

for (const [title, ...args] of shown) {
  console.log(`${title}: npx idsmith ${args.join(' ')}`);
  const { status } = spawnSync(process.execPath, [bin, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  console.log();
}
