// Links between files of the project, as links of the site: pages of docs/ to each other, everything else to the repository.

import { dirname, join, normalize } from 'node:path/posix';
import { order } from './sidebar.mjs';

const PROJECT = 'https://github.com/idsmith/idsmith/blob/main/';
const PAGES = {
  'README.md': '/',
  'site/playground.md': '/playground',
  'docs/README.md': '/',
  'CHANGELOG.md': '/changelog',
  'bench/README.md': '/benchmarks',
};
/** Folders of pictures, and where the site has them. */
const PICTURES = { 'docs/images/': '/images/', 'bench/charts/': '/charts/' };

/** @param from the file of the project that has the text */
export function inSite(text, from) {
  return text.replace(
    /(!?\[[^\]]*\])\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)/g,
    (_link, label, path, anchor = '') => {
      const target = normalize(join(dirname(from), path));
      if (PAGES[target] !== undefined) return `${label}(${PAGES[target]}${anchor})`;
      if (/^docs\/.*\.md$/.test(target)) {
        const name = pageOf(target);
        return `${titled(label, name)}(/${name}${anchor})`;
      }
      for (const [folder, place] of Object.entries(PICTURES)) {
        if (target.startsWith(folder)) return `${label}(${place}${target.slice(folder.length)})`;
      }
      return `${label}(${PROJECT}${target}${anchor})`;
    },
  );
}

/** A link that names a file, such as [recipes.md], names the page instead. */
function titled(label, name) {
  const page = order.find((each) => each.name === name);
  return /^\[[\w/-]+\.md\]$/.test(label) && page !== undefined ? `[${page.text}]` : label;
}

/** The page of the site that a file of docs/ becomes. */
export const pageOf = (file) => file.slice('docs/'.length, -'.md'.length).replace(/\/README$/, '/overview');
