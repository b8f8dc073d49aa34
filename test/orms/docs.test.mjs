import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { databases } from './databases.mjs';

// Runs the recipes of docs/orms.md as they stand, each on a database of its own, and compares what they read with what is stored.

const page = readFileSync(new URL('../../docs/orms.md', import.meta.url), 'utf8');
const generated = new URL('generated/docs/', import.meta.url);
mkdirSync(generated, { recursive: true });

/** The first block of JavaScript under a heading. */
function blockOf(heading) {
  const [, section] = page.split(`\n## ${heading}\n`);
  return /^```js\n([\s\S]*?)^```$/m.exec(section)[1];
}

const recipes = [...page.matchAll(/^## (.*)$/gm)]
  .map(([, heading]) => heading)
  .filter((heading) => /^[A-Z]\w+$/.test(heading) && heading !== 'Columns');

describe('The recipe in docs/orms.md', () => {
  it('is there for every ORM', () => {
    expect(recipes).toEqual(['Drizzle', 'Kysely', 'Knex', 'TypeORM', 'Sequelize', 'MikroORM', 'Prisma']);
  });

  it.each(recipes)('of %s stores and reads ids exactly', async (orm) => {
    const { url } = await databases.postgres(`docs_${orm.toLowerCase()}`);
    process.env.DATABASE_URL = url;
    const code = [blockOf('The same for all'), blockOf(orm), 'await ids.close();', 'export { invoice };'];
    const file = new URL(`${orm}.mjs`, generated);
    writeFileSync(file, code.join('\n').replace('./generated/prisma/client.js', '../postgresql/client.ts'));
    const { invoice } = await import(file.pathname);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query('SELECT id, ref, ticket, number FROM invoices');
    await client.end();
    const read = { id: invoice.id, ref: invoice.ref, ticket: invoice.ticket, number: invoice.number };
    expect(rows).toEqual([Object.fromEntries(Object.entries(read).map(([name, id]) => [name, String(id)]))]);
    expect(BigInt(rows[0].id)).toBeGreaterThan(2n ** 53n);
    expect(rows[0]).toMatchObject({ ticket: '1', number: '1' });
  });
});
