import { expect, it } from 'vitest';
import { describeWith } from '../services/index.ts';
import { runChaos, STORES, type StoreName, showReport } from './orchestrator.ts';

const SEED = 20_260_801;

/** One short run on each of these stores; `npm run chaos` has longer ones on every store. They wait more than they work, so that several files of them run beside others. */
export async function shortRuns(...names: StoreName[]): Promise<void> {
  for (const name of names) {
    await describeWith(STORES[name].services, `Processes that mint with leases from ${name}`, () => {
      it('never hand out an id twice, and go on when faults are over', { timeout: 400_000 }, async () => {
        const report = await runChaos(name, { seed: SEED });
        expect(report.problems, showReport(report)).toEqual([]);
        expect(report.ids).toBeGreaterThan(1000);
        expect(report.events.copied).toBeGreaterThan(0);
        expect(report.localityIds).toBeGreaterThan(0);
        expect(report.localityIds).toBeLessThan(report.ids);
      });
    });
  }
}
