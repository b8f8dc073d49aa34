import type { Outcome } from '../../../idsmith/test/simulation/outcome.ts';
import { type Sabotage, Simulation } from './simulation.ts';

export { SABOTAGES } from './sabotage.ts';

/** The run of one seed, told line by line if somebody listens. */
export function simulateKeys(
  seed: number,
  sabotage?: Sabotage,
  tell?: (line: string) => void,
): Promise<Outcome> {
  return new Simulation(seed, sabotage, tell).run();
}
