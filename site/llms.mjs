// llms.txt: the list of pages with the first sentence of each, for programs that read documentation.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the site is published. */
const SITE = 'https://idsmith.github.io/idsmith';

export function llms(pages, order) {
  const lines = order.map(
    ({ text, name }) => `- [${text}](${SITE}/${name}): ${firstSentence(textOf(pages, name))}`,
  );
  return `# idsmith

> ${firstSentence(textOf(pages, ''))}

All pages in one text: ${SITE}/llms-full.txt

## Pages

${lines.join('\n')}
`;
}

/** llms-full.txt: all pages in one text. */
export function llmsFull(pages, order) {
  const texts = order.map(({ name }) => textOf(pages, name).trim());
  return `${texts.join('\n\n---\n\n')}\n`;
}

/** A page without what only the site understands. The landing page says less than the README does. */
function textOf(pages, name) {
  if (name === '') return readFileSync(join(pages, '../../README.md'), 'utf8');
  const file = join(pages, `${name.endsWith('/') ? `${name}index` : name}.md`);
  return readFileSync(file, 'utf8')
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(/^<[A-Z].*\n/gm, '');
}

function firstSentence(text) {
  const paragraph = text.split(/\n\n+/).find((part) => /^[A-Z*`\w[]/.test(part));
  const [sentence] = paragraph.replaceAll('\n', ' ').split(/(?<=[.:]) (?=[A-Z`[])/);
  return sentence
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replace(/:$/, '.');
}
