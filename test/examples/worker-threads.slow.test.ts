import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { example } from './program.ts';

describe('The example of worker threads', () => {
  it('mints in four threads, and repeats nothing', () => {
    const env = { ...process.env, STORE_URL: 'memory:', THREADS: '4', IDS: '20000' };
    const run = spawnSync(process.execPath, [example('worker-threads/main.mjs')], { encoding: 'utf8', env });
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
    expect(run.stdout.split('\n').slice(0, 2)).toEqual([
      '80000 flakes, 0 repeated',
      '1000 numbers, 0 repeated',
    ]);
  });
});
