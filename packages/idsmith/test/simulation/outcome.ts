/** What came of a run. */
export interface Outcome {
  readonly seed: number;
  readonly ids: number;
  /** How often each kind of fault was injected. */
  readonly faults: Readonly<Record<string, number>>;
  /** What went wrong, if anything did. */
  readonly violation: string | undefined;
}

/** The run of one seed, told line by line. */
export type Simulate<Sabotage> = (
  seed: number,
  sabotage?: Sabotage,
  tell?: (line: string) => void,
) => Promise<Outcome>;

/** The sum of several runs. */
export interface Totals {
  seeds: number;
  ids: number;
  faults: Record<string, number>;
}

/** Runs many seeds, one after the other, up to the first that fails. */
export async function simulateMany<Sabotage>(
  simulate: Simulate<Sabotage>,
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
