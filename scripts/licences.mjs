// node scripts/licences.mjs: which licences the packages have that a user installs with ours. Exits with 1 if there is one that nobody looked at.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Licences that ask for nothing but their text. */
const ALLOWED = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'BlueOak-1.0.0',
]);

const root = fileURLToPath(new URL('../', import.meta.url));
const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
const installed = Object.entries(packages)
  .filter(
    ([path, { dev, link, peer, optional, devOptional }]) =>
      path.startsWith('node_modules/') && !dev && !link && !peer && !optional && !devOptional,
  )
  .map(([path, { version, license }]) => ({ name: path.split('node_modules/').at(-1), version, license }));

for (const { name, version, license } of installed)
  console.log(`${license ?? 'unknown'}\t${name} ${version}`);

const strange = installed.filter(({ license }) => !ALLOWED.has(license));
if (strange.length > 0) {
  console.error(`look at the licence of ${strange.map(({ name }) => name).join(', ')}`);
  process.exit(1);
}
