// node scripts/diagrams.mjs: the pictures of docs/images that are drawn from the code. With --check it only says whether they are up to date.

import { readFileSync, writeFileSync } from 'node:fs';
import { layouts } from 'idsmith';
import { bars } from './diagrams/bars.mjs';
import { house } from './diagrams/house.mjs';
import { keyFields, uuidFields } from './diagrams/probe.mjs';
import { windows } from './diagrams/windows.mjs';

const flakes = Object.entries(layouts).map(([name, layout]) => ({
  name,
  fields: layout.order.map((field) => ({ name: field, size: layout.fields[field].bits })),
}));

const pictures = {
  'flakes.svg': bars('The bits of a flake in each layout', flakes, 'bits'),
  'locality.svg': bars(
    'The bits of a locality UUID',
    [{ name: 'locality', fields: uuidFields('20be0ffc-314a-bd53-7a50-013a65ca76d2') }],
    'bits',
  ),
  'uuid7.svg': bars(
    'The bits of a UUIDv7',
    [{ name: 'UUIDv7', fields: uuidFields('019b7c4e-94ce-7ba1-9d1c-21f1a6a6c9e8') }],
    'bits',
  ),
  'key.svg': bars(
    'The characters of a sharded key',
    [{ name: '1jyVFw3401', fields: keyFields('1jyVFw3401') }],
    'characters',
  ),
  'windows.svg': await windows(),
  'house.svg': house(),
};

const outdated = [];
for (const [name, svg] of Object.entries(pictures)) {
  const file = new URL(`../docs/images/${name}`, import.meta.url);
  if (process.argv.includes('--check')) {
    if (readIfThere(file) !== svg) outdated.push(name);
  } else writeFileSync(file, svg);
}
if (outdated.length > 0) {
  console.error(`draw ${outdated.join(', ')} anew: node scripts/diagrams.mjs`);
  process.exit(1);
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
