// Tables that stay readable on a narrow screen: every cell knows the heading of its column, and the table how many columns it has.

export function labelTables(md) {
  md.core.ruler.push('label-tables', ({ tokens }) => {
    let table;
    let headings = [];
    let column = 0;
    for (const [i, token] of tokens.entries()) {
      if (token.type === 'table_open') [table, headings] = [token, []];
      else if (token.type === 'tr_open') column = 0;
      else if (token.type === 'th_open') headings.push(textOf(tokens[i + 1]));
      else if (token.type === 'td_open') token.attrSet('data-label', headings[column++] ?? '');
      else if (token.type === 'thead_close') table.attrJoin('class', `columns-${headings.length}`);
    }
  });
  // A table that is still too wide scrolls in a box of its own. (VitePress would leave the class out.)
  md.renderer.rules.table_open = (tokens, i, options, _env, self) =>
    `<div class="table" tabindex="0">${self.renderToken(tokens, i, options)}`;
  md.renderer.rules.table_close = () => '</table></div>\n';
}

/** The words of a heading, without its marks. */
const textOf = ({ children }) =>
  children
    .filter(({ type }) => type === 'text' || type === 'code_inline')
    .map(({ content }) => content)
    .join('');
