import fc from 'fast-check';
import { type Block, memoryStore, type SequenceChanges, type SequenceStore } from 'idsmith';
import { expect } from 'vitest';
import { partOf } from '../../../src/sequence/block.ts';

/** What is done to a sequence, by one of several clients. */
type Step = (store: SequenceStore, name: string, last: Block | undefined) => Promise<unknown>;

const id = fc.bigInt({ min: -40n, max: 40n });
const shape = {
  blockSize: fc.integer({ min: 1, max: 4 }),
  step: fc.constantFrom(1, 2, 3, -1, -2),
  min: id,
  max: id,
  cycle: fc.boolean(),
};

/** The steps that end cycles. */
const ENDING_CYCLES = new WeakSet<Step>();

const removal: Step = (store, name) => store.removeSequence(name);

const GIVING_BACK = new WeakSet<Step>();

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 5 }).map(allocation) },
  { weight: 2, arbitrary: fc.record({ ...shape, next: id }, { requiredKeys: [] }).map(alteration) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }).map(giveBack) },
  { weight: 1, arbitrary: fc.record({ ...shape, start: id }, { requiredKeys: [] }).map(definition) },
  { weight: 1, arbitrary: fc.constant(removal) },
);

function allocation(blocks: number): Step {
  return (store, name) => store.allocate(name, blocks);
}

function alteration(changes: SequenceChanges): Step {
  const step: Step = (store, name) => store.alterSequence(name, changes);
  if (changes.cycle === false) ENDING_CYCLES.add(step);
  return step;
}

function definition(options: object): Step {
  return (store, name) => store.defineSequence({ name, ...options });
}

function giveBack(count: number): Step {
  const step: Step = async (store, name, last) => {
    if (last === undefined || last.count < count) return undefined;
    return store.giveBack!(name, partOf(last, last.count - count, count));
  };
  GIVING_BACK.add(step);
  return step;
}

/** Holds that clients of a store, whatever they do in turn, see what those of the memory store do. */
export async function inLockstep(clients: readonly SequenceStore[], runs: number): Promise<void> {
  const turns = fc.array(fc.tuple(fc.nat(clients.length - 1), steps), { minLength: 20, maxLength: 40 });
  let run = 0;
  const property = fc.asyncProperty(turns, async (turns) => {
    const name = `lockstep ${run++}`;
    const model = memoryStore();
    let [last, modelLast]: (Block | undefined)[] = [];
    for (const store of [model, clients[0]!]) await store.defineSequence({ name, blockSize: 2, max: 30 });
    let taker = clients[0]!;
    for (const [index, step] of turns) {
      // Only the process that has taken a run gives its end back.
      const client = GIVING_BACK.has(step) ? taker : clients[index]!;
      const expected = await outcomeOf(step(model, name, modelLast));
      const outcome = await outcomeOf(step(client, name, last));
      expect(outcome.seen).toEqual(expected.seen);
      if (outcome.block) taker = client;
      // Another process that has got numbers takes a sequence that is defined again, or that has ended its cycles, for one that the store
      // has lost.
      if (step === removal)
        for (const other of clients) await other.removeSequence(name).catch(() => undefined);
      if (ENDING_CYCLES.has(step) && expected.error === undefined)
        for (const other of clients) await other.alterSequence(name, { cycle: false });
      [last, modelLast] = [outcome.block ?? last, expected.block ?? modelLast];
      const [shown, wanted] = await Promise.all([clients[0]!, model].map((store) => show(store, name)));
      expect(shown).toEqual(wanted);
    }
  });
  await fc.assert(property, { numRuns: runs });
}

/** What a step gave but for the generation, which is random. */
async function outcomeOf(step: Promise<unknown>): Promise<{ seen: unknown; block?: Block; error?: unknown }> {
  try {
    const value = await step;
    if (typeof value !== 'object' || value === null || !('origin' in value)) return { seen: value };
    const { origin: _, ...seen } = value;
    return { seen, block: value as unknown as Block };
  } catch (error) {
    return { seen: (error as { code?: string }).code ?? String(error), error };
  }
}

const show = (store: SequenceStore, name: string) =>
  store.describeSequence(name).catch((error) => (error as { code: string }).code);
