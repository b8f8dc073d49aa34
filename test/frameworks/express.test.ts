import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { endPrograms, example, Program } from '../examples/program.ts';

// Below the packages of this folder, so that the example finds Express and the packed idsmith as a user's program would.
const home = join(import.meta.dirname, 'node_modules', '.examples');
mkdirSync(home, { recursive: true });
const scratch = mkdtempSync(join(home, 'express-'));
const file = join(scratch, 'server.mjs');
cpSync(example('express/server.mjs'), file);
const env = { STORE_URL: `sqlite:${join(scratch, 'ids.db')}`, PORT: '0' };

afterAll(async () => {
  await endPrograms();
  rmSync(scratch, { recursive: true, force: true });
});

async function start(): Promise<{ program: Program; url: string }> {
  const program = new Program(file, { env });
  return { program, url: (await program.line()).replace('listening at ', '') };
}

describe('The example of Express', () => {
  it('numbers orders, and goes on without a gap after an orderly end', async () => {
    const first = await start();
    expect(await (await fetch(`${first.url}/readyz`)).json()).toEqual({ ready: true });
    const answers = [];
    for (let i = 0; i < 3; i++) {
      const response = await fetch(`${first.url}/orders`, { method: 'POST' });
      expect(response.status).toBe(201);
      answers.push((await response.json()) as { id: string; invoice: string });
    }
    expect(answers.map(({ invoice }) => invoice)).toEqual(['10000', '10001', '10002']);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(3);
    expect(await first.program.end('SIGTERM')).toBe(0);

    const second = await start();
    const next = await fetch(`${second.url}/orders`, { method: 'POST' });
    expect(await next.json()).toMatchObject({ invoice: '10003' });
    expect(await second.program.end('SIGTERM')).toBe(0);
  });
});
