import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { databases } from './databases.mjs';
import { Page } from './page.mjs';

// Runs the recipes of docs/orms.md as they stand, each on a database of its own, and compares what they read with what is stored.

const page = new Page('orms');
const blockOf = (heading) => page.programs(heading)[0];
const recipes = page.headings.filter((heading) => /^[A-Z]\w+$/.test(heading) && heading !== 'Columns');

describe('The recipe in docs/orms.md', () => {
  it('is there for every ORM', () => {
    expect(recipes).toEqual(['Drizzle', 'Kysely', 'Knex', 'TypeORM', 'Sequelize', 'MikroORM', 'Prisma']);
  });

  it('of stricter isolation gives numbers without gaps to many at once', async () => {
    const { url } = await databases.postgres('docs_isolation');
    process.env.DATABASE_URL = url;
    const many = `const others = await Promise.all(
      Array.from({ length: 10 }, () => serializable((client) => gapless('invoices', client))),
    );
    await pool.end();`;
    const end = ['await ids.close();', 'export { number, others };'];
    const code = [blockOf('The same for all'), blockOf('Stricter isolation'), many, ...end];
    const { number, others } = await page.run('isolation', ...code);
    const inOrder = [number, ...others.sort((a, b) => Number(a - b))];
    expect(inOrder).toEqual(Array.from({ length: 11 }, (_, i) => BigInt(i + 1)));
  });

  it.each(recipes)('of %s stores and reads ids exactly', async (orm) => {
    const { url } = await databases.postgres(`docs_${orm.toLowerCase()}`);
    process.env.DATABASE_URL = url;
    const code = [blockOf('The same for all'), blockOf(orm), 'await ids.close();', 'export { invoice };'];
    const { invoice } = await page.run(orm, ...code);
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
