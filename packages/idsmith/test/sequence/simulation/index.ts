import type { Outcome } from '../../simulation/outcome.ts';
import { type Sabotage, Simulation } from './simulation.ts';

export { SABOTAGES } from './sabotage.ts';

/** The run of one seed, told line by line if somebody listens. */
export function simulateSequences(
  seed: number,
  sabotage?: Sabotage,
  tell?: (line: string) => void,
): Promise<Outcome> {
  return new Simulation(seed, sabotage, tell).run();
}
