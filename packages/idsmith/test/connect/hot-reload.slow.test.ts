import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { depth } from '../../../../test/depth.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-hot-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a script that evaluates a module again and again in one process, on a SQLite file of its own. */
async function evaluate(script: 'evaluate' | 'vite', way: 'anew' | 'shared' | 'realm') {
  const file = fileURLToPath(new URL(`scripts/hot-reload/${script}.mjs`, import.meta.url));
  const env = { ...process.env, WAY: way, STORE_URL: `sqlite:${join(folder, `${script}-${way}.db`)}` };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
  return JSON.parse(stdout);
}

describe('a module that is evaluated again and again in one process, with 16 node ids', () => {
  it('ends in a message that says who holds the node ids, and what to do', async () => {
    expect(await evaluate('evaluate', 'anew')).toEqual({
      evaluated: 16,
      generators: 16,
      ids: 16,
      code: 'LEASES_EXHAUSTED',
      message:
        'no node id available in namespace "1767225600000/1 node:4@12 sequence:12@0": all 16 are held, 16 of them by this process itself: close() what is no longer used, ' +
        'or let every module share one connection with connect(url, { shared: true }). Layouts with more node ids: safe53 (32), jflake (512), ' +
        'snowflake (1,024), instagram (8,192), sonyflake (65,536); npx idsmith plan compares them',
    });
  });

  it.each(['shared', 'realm'] as const)('keeps one node id for 100 times where it is %s', async (way) => {
    expect(await evaluate('evaluate', way)).toEqual({ evaluated: 100, generators: 1, ids: 100 });
  });

  const inVite = (['shared', 'realm'] as const).slice(0, depth > 0 ? 2 : 1);
  it.each(inVite)('keeps one node id in Vite where it is %s', async (way) => {
    expect(await evaluate('vite', way)).toEqual({ evaluated: 20, generators: 1 });
  });

  it('tells the same in Vite without either', async () => {
    expect(await evaluate('vite', 'anew')).toMatchObject({ evaluated: 16, code: 'LEASES_EXHAUSTED' });
  });
});
