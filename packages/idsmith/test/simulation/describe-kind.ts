import { describe, expect, it } from 'vitest';
import { type Simulate, simulateMany } from './outcome.ts';

/** A kind of simulated worlds, and how it is tested. */
interface Kind<Sabotage> {
  readonly simulate: Simulate<Sabotage>;
  /** What is simulated, as the subject of a sentence. */
  readonly subject: string;
  /** What holds in every world, besides the uniqueness of ids. */
  readonly law?: string;
  /** How many seeds to run. `npm run lab -- simulate` tries more. */
  readonly seeds: number;
  readonly sabotages: Readonly<Record<string, Sabotage>>;
  /** Seeds that are known to show what is wrong, so that no others need to be tried. */
  readonly shownBy: Readonly<Record<string, number>>;
}

/** The most seeds that may be needed to notice something. */
const MOST_SEEDS = 1000;

/** Describes a kind of worlds: nothing goes wrong in them, a seed gives the same again, and each sabotage is noticed. */
export function describeKind<Sabotage>(kind: Kind<Sabotage>): void {
  const { simulate, subject, law = '', seeds, sabotages, shownBy } = kind;

  describe(`${subject}, in simulated worlds where everything goes wrong`, () => {
    it(`never repeat an id${law}, with ${seeds} seeds`, {
      timeout: 300_000,
    }, async () => {
      const { failure, ids, faults } = await simulateMany(simulate, 1, seeds);
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

  describe(`the simulation of ${subject}`, () => {
    it.each(Object.keys(sabotages))('notices when %s', { timeout: 300_000 }, async (name) => {
      const sabotage = sabotages[name];
      const shown = await simulateMany(simulate, shownBy[name] ?? 1, 1, sabotage);
      const failure = shown.failure ?? (await simulateMany(simulate, 1, MOST_SEEDS, sabotage)).failure;
      console.info(`${name}: found with seed ${failure?.seed}\n  ${failure?.violation}`);
      expect(failure).toBeDefined();
    });
  });
}
