import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runSoak, type SoakOptions, type SoakReport } from '../src/runs/soak.ts';
import { SOAK_STORES } from './support/private-stores.ts';

/** The setups of these stores. */
const only = (...names: string[]) =>
  Object.fromEntries(Object.entries(SOAK_STORES).filter(([name]) => names.includes(name)));

async function shortRun(options: Partial<SoakOptions>): Promise<SoakReport & { lines: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-soak-'));
  const lines: string[] = [];
  try {
    const report = await runSoak({
      folder,
      stores: only('memory', 'sqlite'),
      seconds: 5,
      seed: 20_260_801,
      processes: 2,
      pause: [100, 400],
      patience: { begin: 60_000, resume: 60_000 },
      print: (line) => lines.push(line),
      ...options,
    });
    return { ...report, lines };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('A short soak run', () => {
  it('has every family on its stores, with faults and without a repetition', async () => {
    const { ids, faults, duplicates, problems, lines } = await shortRun({});
    expect(problems).toEqual([]);
    expect(duplicates).toBe(0);
    expect(ids).toBeGreaterThan(500);
    // One of each kind at least: of the processes of both stores, and of the file.
    expect(faults).toBeGreaterThanOrEqual(3);
    for (const store of ['memory', 'sqlite'])
      for (const family of ['flakes', 'locality', 'uuid7', 'sequences'])
        expect(lines.find((line) => line.startsWith(`${store}: `))).toMatch(
          new RegExp(`[1-9][0-9,]* ${family}`),
        );
    expect(lines.at(-1)).toMatch(/^PASSED: /);
  });

  it('finds an id of each family that a process hands out again', async () => {
    const repeat = ['flakes', 'locality', 'uuid7', 'sequences'] as const;
    const { duplicates, problems, lines } = await shortRun({
      stores: only('memory'),
      seconds: 0,
      plant: { repeat },
    });
    // Once by each of the two members of the process.
    expect(duplicates).toBe(8);
    for (const family of repeat)
      for (const source of [1, 2])
        expect(problems).toContainEqual(
          expect.stringMatching(
            `^memory.${family}.* was handed out by process ${source} and by process ${source}$`,
          ),
        );
    expect(lines.at(-1)).toMatch(/^FAILED: .* 8 duplicates/);
  });

  it('tells of a family that falls silent', async () => {
    const { problems, duplicates } = await shortRun({
      stores: only('sqlite'),
      seconds: 0,
      // Processes tell once a second why they are silent.
      patience: { begin: 60_000, resume: 5000 },
      plant: { mute: ['locality'] },
    });
    expect(duplicates).toBe(0);
    expect(problems).toContain(
      'sqlite: locality of source 1 did not resume within 5000 ms: no call has failed',
    );
  });
});
