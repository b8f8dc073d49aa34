import { describe, expect, it } from 'vitest';
import { SABOTAGES, simulate, simulateMany } from './simulation/index.ts';

const SEEDS = 2000;

describe('leases and generators, in simulated worlds where everything goes wrong', () => {
  it(`never mint an id twice, and resume when faults end, with ${SEEDS} seeds`, {
    timeout: 300_000,
  }, async () => {
    const { failure, seeds, ids, faults } = await simulateMany(1, SEEDS);
    console.info(`${seeds} seeds, ${ids} ids, faults: ${JSON.stringify(faults)}`);
    expect(failure).toBeUndefined();
  });

  it('do the same again with the same seed', async () => {
    const tell = async (seed: number) => {
      const lines: string[] = [];
      const outcome = await simulate(seed, undefined, (line) => lines.push(line));
      return { outcome, lines };
    };
    expect(await tell(7)).toEqual(await tell(7));
  });
});

describe('the simulation', () => {
  it.each(Object.keys(SABOTAGES))('notices when %s', { timeout: 300_000 }, async (name) => {
    const { failure, seeds } = await simulateMany(1, SEEDS, SABOTAGES[name]);
    console.info(`${name}: found with seed ${failure?.seed}, after ${seeds}\n  ${failure?.violation}`);
    expect(failure).toBeDefined();
  });
});
