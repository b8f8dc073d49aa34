/** The languages of snippets. */
export type Language = 'curl' | 'typescript' | 'sql';

/** Text in single quotes of a shell. */
const shellText = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Text in single quotes of SQL. */
const sqlText = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** How programs draw ids of a sequence. @param base the address of the server, with a slash at its end */
export function snippetsOf(name: string, base: string): Record<Language, string> {
  const url = `${base}v1/sequences/${encodeURIComponent(name)}/next?count=10`;
  return {
    curl: `curl -X POST -H "Authorization: Bearer $TOKEN" \\\n  ${shellText(url)}`,
    typescript: `import { Sequences } from 'idsmith';
import { httpStore } from 'idsmith/stores/http';

const store = httpStore(${JSON.stringify(base.replace(/\/$/, ''))}, { token: process.env.IDSMITH_TOKEN });
const sequence = await new Sequences(store).get(${JSON.stringify(name)});
const id = await sequence.next();`,
    sql: `-- A block for your own program, on the database of the store. Numbers of the block are yours alone.
UPDATE id_sequences
   SET next_block_start = next_block_start + block_size
 WHERE name = ${sqlText(name)} AND exhausted = 0
RETURNING next_block_start - block_size AS first, block_size;`,
  };
}
