// What the chooser of "Which id?" knows: the rows of the table on the page itself.

/** @param text docs/which-id.md */
export function choicesOf(text) {
  const [head, ...rows] = text.split('\n').filter((line) => line.startsWith('| '));
  const columns = cellsOf(head);
  return rows.map((line) => {
    const row = Object.fromEntries(cellsOf(line).map((cell, i) => [columns[i], cell]));
    const example = row['an id of it'].replaceAll('`', '');
    return {
      need: row['you need'],
      take: row.take.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', ''),
      link: /\]\(([\w-]+)\.md(#[\w-]+)?\)/
        .exec(row.take)
        ?.slice(1, 3)
        .filter(Boolean)
        .join('')
        .replace(/^/, '/'),
      example,
      form: /^[\da-f]{8}-/.test(example) ? 'uuid' : /^\d+$/.test(example) ? 'number' : 'text',
      sorted: row['sorts by time'] === 'yes',
      hidden: /^(no|hardly)\b/.test(row['can be guessed']),
      gapless: /without a gap|print/.test(row['you need']),
      alone: row['needs a store'].startsWith('no'),
    };
  });
}

const cellsOf = (line) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
