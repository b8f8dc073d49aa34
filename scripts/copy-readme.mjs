// Before the library is packed: the project's README goes into it. Its links lead to the files of this version, because the page of a
// registry has no files beside it.

import { readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const { version, repository } = JSON.parse(
  readFileSync(new URL('packages/idsmith/package.json', root), 'utf8'),
);
const project = repository.url.replace(/^git\+(.*)\.git$/, '$1');
const pages = `${project}/blob/v${version}/`;
const images = `${project}/raw/v${version}/`;

const readme = readFileSync(new URL('README.md', root), 'utf8').replace(
  /(!?)(\[[^\]]*\])\((?!https?:|#)([^)]+)\)/g,
  (_link, image, text, path) => `${image}${text}(${image ? images : pages}${path})`,
);
writeFileSync('README.md', readme);
