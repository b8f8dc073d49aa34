import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { expect, it } from 'vitest';
import { databases } from './databases.mjs';

// docs/tutorials/orders.md is followed from its first step to its last one, twice: the second process mints beside the rows of the first.

const page = readFileSync(new URL('../../docs/tutorials/orders.md', import.meta.url), 'utf8');
const folder = new URL('generated/tutorial/', import.meta.url);

it('docs/tutorials/orders.md works from its first step to its last one', async () => {
  const { url } = await databases.postgres('tutorial_orders');
  mkdirSync(folder, { recursive: true });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let last;
  for (const [, kind, code] of page.matchAll(/^```(sql|js)\n([\s\S]*?)^```$/gm)) {
    if (kind === 'sql') await client.query(code);
    else {
      const [, name] = /^\/\/ ([\w-]+\.js)\n/.exec(code);
      last = { file: new URL(name, folder), code };
      writeFileSync(last.file, code);
    }
  }
  const promised = [...last.code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
  const run = () => {
    const env = { ...process.env, DATABASE_URL: url };
    const { stdout, stderr } = spawnSync(process.execPath, [last.file.pathname], { env, encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.trim().split('\n');
  };
  expect(run()).toEqual(promised);
  run();
  const { rows } = await client.query('SELECT count(DISTINCT id)::int AS ids FROM orders');
  await client.end();
  expect(rows).toEqual([{ ids: 6 }]);
});
