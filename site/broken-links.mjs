// VitePress checks links between pages. Here every link, picture and place within a page is checked, as it is in the built site.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @returns what is broken, a line each */
export function brokenLinks(dist, base) {
  const pages = readdirSync(dist, { recursive: true }).filter((file) => file.endsWith('.html'));
  const ids = new Map();
  const idsOf = (file) => {
    if (!ids.has(file)) {
      const html = readFileSync(join(dist, file), 'utf8');
      ids.set(file, new Set([...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1])));
    }
    return ids.get(file);
  };
  const broken = new Set();
  for (const page of pages) {
    const html = readFileSync(join(dist, page), 'utf8');
    for (const [, link] of html.matchAll(/ (?:href|src)="((?!https?:|mailto:|data:)[^"]+)"/g)) {
      const { pathname, hash } = new URL(link.replaceAll('&amp;', '&'), `http://site${base}${page}`);
      const file = fileOf(dist, decodeURIComponent(pathname), base);
      const isThere =
        file !== undefined && (hash === '' || idsOf(file).has(decodeURIComponent(hash.slice(1))));
      if (!isThere) broken.add(`${page}: ${link}`);
    }
  }
  return [...broken];
}

/** The file that a server gives for a path. */
function fileOf(dist, path, base) {
  if (!path.startsWith(base)) return undefined;
  const name = path.slice(base.length);
  return [name, `${name}.html`, join(name, 'index.html')].find(
    (each) => each !== '' && /\.\w+$/.test(each) && existsSync(join(dist, each)),
  );
}
