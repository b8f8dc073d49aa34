// llms.txt: the list of pages with the first sentence of each, for programs that read documentation.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export function llms(pages, order) {
  const lines = order
    .filter(({ name }) => existsSync(fileOf(pages, name)))
    .map(({ text, name }) => `- [${text}](/${name || 'index'}): ${firstSentence(fileOf(pages, name))}`);
  return `# idsmith

> ${firstSentence(fileOf(pages, ''))}

## Pages

${lines.join('\n')}
`;
}

const fileOf = (pages, name) => join(pages, `${name === '' ? 'index' : name}.md`);

function firstSentence(file) {
  const paragraph = readFileSync(file, 'utf8')
    .split('\n\n')
    .find((part) => /^[A-Z*`\w]/.test(part) && !part.startsWith('#'));
  const [sentence] = paragraph.replaceAll('\n', ' ').split(/(?<=[.:]) /);
  return sentence
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replace(/:$/, '.');
}
