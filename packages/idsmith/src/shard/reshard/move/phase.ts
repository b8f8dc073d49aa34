import { StoreError } from '../../../errors.js';
import { pause, systemTimer } from '../../../support/timer.js';
import type { Parties } from '../context.js';
import type { Wire } from '../node-connection.js';
import { STATE } from '../reserved-keys.js';
import { BEGIN, CANCEL, FINISH, PHASE, PREPARE } from './phase-scripts.js';

/** After how long a silence a process with a map in transition counts as gone, ms. */
export const LAPSE = 10_000;

/** How long processes may take to end what they began before, ms. */
const PATIENCE = 30_000;

/** How often it is looked whether they have, ms. */
const INTERVAL = 20;

/** Where a node is in a resharding; `other` is another one that is not finished. */
export type Phase = 'before' | 'preparing' | 'moving' | 'done' | 'other';

/**
 * The phase of every node.
 *
 * @throws StoreError when a node does not answer, or another resharding is under way
 */
export async function lookAt(parties: Parties): Promise<Phase[]> {
  return Promise.all(
    parties.all.map(async (wire) => readPhase(wire, await wire.run(READING, PHASE, [STATE], [parties.move]))),
  );
}

/**
 * Lets keys be moved: from then on every map in transition looks for a key at its new owner, and all that they began
 * before has ended.
 *
 * @returns how many processes have said nothing for so long that they count as gone
 */
export async function begin(parties: Parties, signal: AbortSignal | undefined): Promise<number> {
  const { move, about, all } = parties;
  try {
    for (const wire of all) readPhase(wire, await wire.run(BEGINNING, PREPARE, [STATE], [move, about]));
    const lapsed = await Promise.all(all.map((wire) => opened(wire, move, signal)));
    return Math.max(0, ...lapsed);
  } catch (error) {
    // Those that wait for the beginning would wait in vain. A node that cannot be told forgets it by itself.
    await Promise.allSettled(all.map((wire) => wire.run(BEGINNING, CANCEL, [STATE], [move])));
    throw error;
  }
}

export async function finish({ move, all }: Parties): Promise<void> {
  await Promise.all(all.map((wire) => wire.run('ending the resharding', FINISH, [STATE], [move])));
}

const READING = 'reading the state of resharding';
const BEGINNING = 'beginning the resharding';

async function opened(wire: Wire, move: string, signal: AbortSignal | undefined): Promise<number> {
  const until = performance.now() + PATIENCE;
  for (let gone = 0; ; ) {
    signal?.throwIfAborted();
    const reply = await wire.run(BEGINNING, BEGIN, [STATE], [move, LAPSE]);
    const phase = readPhase(wire, reply);
    gone += Number(reply[3]);
    if (phase === 'moving') return gone;
    // It was ended elsewhere, or stopped for so long that the node has forgotten that it was about to begin.
    if (phase !== 'preparing')
      throw new StoreError(`node ${wire.name}: ${BEGINNING} failed: it was given up meanwhile`);
    if (performance.now() > until)
      throw new StoreError(
        `node ${wire.name}: ${BEGINNING} failed: ${Number(reply[2])} processes are still in the middle of commands ` +
          `after ${PATIENCE / 1000} s; end them (blocking commands do not end by themselves), or try again`,
      );
    await pause(systemTimer, INTERVAL, false);
  }
}

function readPhase(wire: Wire, [phase, about]: readonly unknown[]): Phase {
  if (String(phase) === 'other') throw otherMove(wire, about);
  return String(phase) as Phase;
}

/** @internal */
export function otherMove(wire: Wire, about: unknown): StoreError {
  return new StoreError(
    `node ${wire.name}: another resharding is not finished (${String(about)}): run that one again first`,
  );
}
