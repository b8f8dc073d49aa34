// Links between files of the project, as links of the site: pages of docs/ to each other, everything else to the repository.

import { dirname, join, normalize } from 'node:path/posix';

const PROJECT = 'https://github.com/idsmith/idsmith/blob/main/';
const PAGES = { 'README.md': '/', 'CHANGELOG.md': '/changelog', 'bench/README.md': '/benchmarks' };
/** Folders of pictures, and where the site has them. */
const PICTURES = { 'docs/images/': '/images/', 'bench/charts/': '/charts/' };

/** @param from the file of the project that has the text */
export function inSite(text, from) {
  return text.replace(
    /(!?\[[^\]]*\])\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)/g,
    (_link, label, path, anchor = '') => {
      const target = normalize(join(dirname(from), path));
      if (/^docs\/.*\.md$/.test(target)) return `${label}(/${pageOf(target)}${anchor})`;
      for (const [folder, place] of Object.entries(PICTURES)) {
        if (target.startsWith(folder)) return `${label}(${place}${target.slice(folder.length)})`;
      }
      return `${label}(${PAGES[target] ?? PROJECT + target}${anchor})`;
    },
  );
}

/** The page of the site that a file of docs/ becomes. */
export const pageOf = (file) =>
  file.slice('docs/'.length, -'.md'.length).replace('migration/README', 'migration/overview');
