import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runSoak, type SoakOptions } from './soak.ts';
import type { SoakReport } from './verdict.ts';

async function shortRun(options: Partial<SoakOptions>): Promise<SoakReport & { lines: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-soak-'));
  const lines: string[] = [];
  try {
    const report = await runSoak({
      ...{ folder, stores: ['memory', 'sqlite'], seconds: 5, seed: 20_260_801, processes: 2 },
      ...{
        pause: [100, 400],
        patience: { begin: 60_000, resume: 60_000 },
        print: (line) => lines.push(line),
        ...options,
      },
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
      for (const family of ['flake', 'locality', 'uuid7', 'sequence'])
        expect(lines.find((line) => line.startsWith(`${store}: `))).toMatch(
          new RegExp(`[1-9][0-9,]* ${family}`),
        );
    expect(lines.at(-1)).toMatch(/^PASSED: /);
  });

  it('finds an id of each family that a process hands out again', async () => {
    const repeat = ['flake', 'locality', 'uuid7', 'sequence'] as const;
    const { duplicates, problems, lines } = await shortRun({
      ...{ stores: ['memory'], seconds: 0, plant: { repeat } },
    });
    // Once by each of the two members of the process.
    expect(duplicates).toBe(8);
    for (const family of repeat)
      for (const source of [0, 1])
        expect(problems).toContainEqual(
          expect.stringMatching(`^memory.${family}.* was handed out by ${source} and again by ${source}$`),
        );
    expect(lines.at(-1)).toMatch(/^FAILED: .* 8 duplicates/);
  });

  it('tells of a family that falls silent', async () => {
    const { problems, duplicates } = await shortRun({
      ...{
        stores: ['sqlite'],
        seconds: 0,
        // Processes tell once a second why they are silent.
        patience: { begin: 60_000, resume: 5000 },
        plant: { mute: ['locality'] },
      },
    });
    expect(duplicates).toBe(0);
    expect(problems).toContain(
      'sqlite: locality of source 0 did not resume within 5000 ms: no call has failed',
    );
  });
});
