import { describe, expect, it } from 'vitest';
import { givesRows, withPlaceholders } from '../../src/drivers/driver.ts';

describe('placeholders', () => {
  const numbered = (text: string) =>
    withPlaceholders(
      text,
      'mysql',
      (n) => `$${n}`,
      (part) => `<${part}>`,
    );
  const marked = (text: string) =>
    withPlaceholders(
      text,
      'postgres',
      (n) => `?${n}`,
      (part) => `<${part}>`,
    );

  it('are found in the notation of the dialect', () => {
    expect(marked('SELECT $2, $1, $12')).toBe('SELECT ?2, ?1, ?12');
    expect(numbered('INSERT INTO x VALUES (?, CAST(? AS SIGNED))')).toBe(
      'INSERT INTO x VALUES ($1, CAST($2 AS SIGNED))',
    );
  });

  it('of the other notation are something else', () => {
    expect(marked(`SELECT a ? 'b'`)).toBe(`SELECT a <?> <'b'>`);
    expect(numbered('SELECT $1, ?')).toBe('SELECT <$1>, $1');
  });

  it.each([`'$1 ?'`, `'it''s $1 ?'`, '"$1 ?"', '`$1 ?`', '/* $1 ? */', '-- $1 ?'])(
    'are not looked for in quotes and comments: %s',
    (part) => {
      expect(marked(`SELECT ${part}\n, $1`)).toBe(`SELECT <${part}>\n, ?1`);
      expect(numbered(`SELECT ${part}\n, ?`)).toBe(`SELECT <${part}>\n, $1`);
    },
  );
});

describe('statements with rows', () => {
  it.each([
    'SELECT 1',
    '  select 1',
    'WITH x AS (SELECT 1) SELECT * FROM x',
    'SHOW COLUMNS FROM x',
    'PRAGMA synchronous',
    'UPDATE x SET a = 1 RETURNING a',
  ])('%s', (text) => expect(givesRows(text)).toBe(true));

  it.each(['SAVEPOINT x', 'UPDATE x SET a = 1', 'PRAGMA synchronous = 2', 'INSERT INTO x VALUES (1)'])(
    'not: %s',
    (text) => expect(givesRows(text)).toBe(false),
  );
});
