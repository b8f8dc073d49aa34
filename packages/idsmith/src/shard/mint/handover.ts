import { IdError, InvalidOptionError, StoreError } from '../../errors.js';
import type { Mark, MarkStatus } from './node-sequence.js';
import { askAll, RingConflictError, type Sighting } from './open-sequences.js';

/** How often a hand-over begins again when a node forgets in the middle of it. */
const MAX_ROUNDS = 5;

/**
 * Lets the nodes of `to` mint in place of those of `from`, and never the one beside the other: all old marks are closed,
 * and seen to be closed, before the first new one opens, beyond the highest of them. Killed at any point and run
 * again it goes on where it was; processes with the old config fail with a {@link RingConflictError} from then on.
 *
 * @param gone names of old nodes that are lost for good and cannot be asked. What they minted is then known by the
 *   clocks of the others only; no process may reach them any more.
 * @throws RingConflictError when a third ring is there
 * @throws StoreError naming a node that does not answer
 */
export async function handOver(
  from: readonly Mark[],
  to: readonly Mark[],
  gone: readonly string[] = [],
): Promise<void> {
  const [old, next] = [from[0]?.ring, to[0]?.ring];
  if (old === undefined || next === undefined || old.fingerprint === next.fingerprint) return;
  if (old.epoch !== next.epoch)
    throw new InvalidOptionError(`epoch must stay ${old.epoch}, not become ${next.epoch}: keys would repeat`);
  const left = from.filter(({ node }) => !gone.includes(node.name));
  if (left.length === 0) throw new InvalidOptionError('gone must leave one of the old nodes');
  for (let round = 1; ; round++) {
    const generation = await nextGeneration(left, to);
    const closed = await closeAll(left, next.fingerprint, generation - 1);
    // What was minted on a node that is gone lies within its lead of its clock, which the others stand for.
    const reach = left.length === from.length ? 0 : old.lead + old.skew;
    const base = Math.max(...closed.map(({ high, now }) => Math.max(high, reach === 0 ? 0 : now + reach)));
    // A node that has forgotten being closed may have been opened again; only what is closed still counts.
    const seen = answers(await askAll(left, (mark) => mark.look()));
    if (seen.every(([, status]) => isClosedFor(status, next.fingerprint))) {
      // The old nodes first: from then on no process with the old config can begin anew on one that forgets.
      const names = new Set(from.map(({ node }) => node.name));
      await adoptAll(
        to.filter(({ node }) => names.has(node.name)),
        base,
        generation,
      );
      await adoptAll(
        to.filter(({ node }) => !names.has(node.name)),
        base,
        generation,
      );
      return;
    }
    if (round === MAX_ROUNDS)
      throw new StoreError(`handing ${old.nodes} over failed: a node forgets again and again`);
  }
}

async function nextGeneration(from: readonly Mark[], to: readonly Mark[]): Promise<number> {
  const [old, fresh] = [
    answers(await askAll(from, (m) => m.look())),
    answers(await askAll(to, (m) => m.look())),
  ];
  const ofOld = old.filter(([, { whose }]) => whose === 'own').map(([, { generation }]) => generation + 1);
  const begun = fresh.filter(([, { whose, state }]) => whose === 'own' && state === 'open');
  return Math.max(2, ...ofOld, ...begun.map(([, { generation }]) => generation));
}

async function closeAll(from: readonly Mark[], next: string, generation: number): Promise<MarkStatus[]> {
  const closed = answers(await askAll(from, (mark) => mark.close(next, generation)));
  for (const [mark, status] of closed)
    if (!isClosedFor(status, next) && status.whose !== 'missing')
      throw new RingConflictError(
        `node ${mark.node.name} is in the hands of yet another set of nodes (${status.nodes}): finish that ` +
          'hand-over first',
        status.state === 'closed' && status.whose === 'own' ? status.next : status.ring,
      );
  return closed.map(([, status]) => status);
}

/** Closed for the next ring, or already taken over by it. */
function isClosedFor({ whose, state, next, ring }: MarkStatus, fingerprint: string): boolean {
  return whose === 'foreign'
    ? ring === fingerprint
    : whose === 'own' && state === 'closed' && next === fingerprint;
}

async function adoptAll(to: readonly Mark[], base: number, generation: number): Promise<void> {
  for (const [mark, { whose, state, nodes, ring }] of answers(
    await askAll(to, (mark) => mark.adopt(base, generation)),
  ))
    if (whose !== 'own' || state !== 'open')
      throw new RingConflictError(
        `node ${mark.node.name} mints keys for other nodes (${nodes}): hand those over first`,
        ring,
      );
}

/** @throws the error of the first node that did not answer */
function answers(sightings: readonly Sighting[]): [Mark, MarkStatus][] {
  return sightings.map(({ mark, status }) => {
    if (status instanceof IdError) throw status;
    return [mark, status];
  });
}
