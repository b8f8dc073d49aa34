import { IdError, InvalidOptionError, StoreError } from '../../errors.js';
import type { ShardNode } from '../config.js';
import type { Mark, MarkStatus, Ring } from './node-sequence.js';

/** Another set of nodes mints where this one would, or did. Nothing is minted until that is settled. */
export class RingConflictError extends InvalidOptionError {
  /** The fingerprint of the ring that mints in its place, or will. */
  readonly next: string;

  constructor(message: string, next: string) {
    super(message);
    this.next = next;
  }
}

/** What is known of a node: its mark's status, or why it could not be asked. */
export interface Sighting {
  readonly mark: Mark;
  readonly status: MarkStatus | IdError;
}

/** Asks all nodes the same at the same time. */
export async function askAll(
  marks: readonly Mark[],
  ask: (mark: Mark) => Promise<MarkStatus>,
): Promise<Sighting[]> {
  return Promise.all(
    marks.map(async (mark) => {
      const status = await ask(mark).catch((error) => {
        if (error instanceof IdError) return error;
        throw error;
      });
      return { mark, status };
    }),
  );
}

/**
 * Lets the nodes mint whose marks are new or were lost, provided that no node belongs to another ring. A ring that has
 * never been open needs all its nodes for that: one that cannot be asked may be minting for another. Later, one node
 * that is open is witness enough, since a ring is handed over only when all its nodes have been closed.
 *
 * @returns what was seen last of the nodes that answered
 * @throws RingConflictError when another ring is there, or this one was handed over
 * @throws StoreError naming the nodes that are needed and do not answer
 */
export async function admit(marks: readonly Mark[]): Promise<ReadonlyMap<Mark, MarkStatus>> {
  const seen = await askAll(marks, (mark) => mark.look());
  check(seen);
  // Nothing was written up to here, so that a process with a wrong config leaves no trace.
  const silent = seen.filter(({ status }) => status instanceof IdError);
  const awake = marks.filter((mark) => !silent.some((sighting) => sighting.mark === mark));
  const generation = Math.max(1, ...own(seen).map((status) => status.generation));
  const prepared = await askAll(awake, (mark) => mark.prepare(generation));
  try {
    check([...prepared, ...silent]);
  } catch (error) {
    // Somebody with another config came at the same time. Two that get into each other's way must not stay there.
    await askAll(awake, (mark) => mark.withdraw());
    throw error;
  }
  // All that begin together begin at the same millisecond, so that each is sure of the others from its first key on.
  const pending = own(prepared).filter(({ state }) => state === 'pending');
  const base = Math.max(0, ...pending.map(({ high }) => high));
  const opened = await askAll(awake, (mark) => mark.open(base));
  refuseOthers(opened);
  return new Map(
    opened.flatMap(({ mark, status }) => (status instanceof IdError ? [] : [[mark, status] as const])),
  );
}

function own(sightings: readonly Sighting[]): MarkStatus[] {
  return sightings.flatMap(({ status }) =>
    status instanceof IdError || status.whose !== 'own' ? [] : [status],
  );
}

/** Pure: whether minting may begin, seeing what was seen. */
function check(sightings: readonly Sighting[]): void {
  refuseOthers(sightings);
  const silent = sightings.filter(({ status }) => status instanceof IdError);
  const [first] = silent;
  if (first === undefined || sightings.some(({ status }) => isWitness(status))) return;
  const names = silent.map(({ mark }) => mark.node.name).join(', ');
  throw new StoreError(
    `node ${names} does not answer, and no other node has minted for these nodes before: all are needed once. ` +
      (first.status as IdError).message,
    { cause: first.status },
  );
}

function isWitness(status: MarkStatus | IdError): boolean {
  return !(status instanceof IdError) && status.whose === 'own' && status.state === 'open' && !status.lost;
}

function refuseOthers(sightings: readonly Sighting[]): void {
  for (const { mark, status } of sightings)
    if (!(status instanceof IdError)) refuseOther(mark.node, mark.ring, status);
}

/** @throws RingConflictError when the mark is of another ring, or closed */
export function refuseOther(node: ShardNode, ring: Ring, status: MarkStatus): void {
  if (status.whose === 'foreign')
    throw new RingConflictError(
      `shards: node ${node.name} mints keys for other nodes or another epoch (${status.nodes}), not for ` +
        `${ring.nodes}: keys would repeat. Use the same config in all processes. If this one is right, end the ` +
        'processes that have the other one, and reshard from that to this',
      status.ring,
    );
  if (status.whose === 'own' && status.state === 'closed')
    throw new RingConflictError(
      `shards: node ${node.name} no longer mints for ${ring.nodes}: they were handed over to another set of ` +
        'nodes. Use the new config',
      status.next,
    );
}
