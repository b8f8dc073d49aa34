import { expect, it } from 'vitest';
import { describeWith } from '../services/index.ts';
import { runChaos, STORES, type StoreName, showReport } from './orchestrator.ts';

const SEED = 20_260_801;

for (const [name, { services }] of Object.entries(STORES)) {
  await describeWith(services, `Processes that mint with leases from ${name}`, () => {
    it('never hand out an id twice, and go on when faults are over', { timeout: 120_000 }, async () => {
      const report = await runChaos(name as StoreName, { seed: SEED });
      expect(report.problems, showReport(report)).toEqual([]);
      expect(report.ids).toBeGreaterThan(1000);
    });
  });
}
