import { type Outcome, type Sabotage, Simulation } from './simulation.ts';

export { SABOTAGES } from './sabotage.ts';
export { simulateScale } from './scale.ts';
export type { Outcome } from './simulation.ts';

/** The sum of several runs. */
export interface Totals {
  seeds: number;
  ids: number;
  faults: Record<string, number>;
}

/** The run of one seed, told line by line if somebody listens. */
export function simulate(seed: number, sabotage?: Sabotage, tell?: (line: string) => void): Promise<Outcome> {
  return new Simulation(seed, sabotage, tell).run();
}

/** Runs many seeds, one after the other, up to the first that fails. */
export async function simulateMany(
  first: number,
  count: number,
  sabotage?: Sabotage,
  progress: (totals: Totals) => void = () => {},
): Promise<Totals & { failure: Outcome | undefined }> {
  const totals: Totals = { seeds: 0, ids: 0, faults: {} };
  for (let seed = first; seed < first + count; seed++) {
    const outcome = await simulate(seed, sabotage);
    totals.seeds++;
    totals.ids += outcome.ids;
    for (const [kind, times] of Object.entries(outcome.faults)) {
      totals.faults[kind] = (totals.faults[kind] ?? 0) + times;
    }
    if (outcome.violation) return { ...totals, failure: outcome };
    progress(totals);
  }
  return { ...totals, failure: undefined };
}
