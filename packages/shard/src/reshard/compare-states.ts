import { StoreError } from 'idsmith/internal';
import type { ReshardContext } from './context.js';
import type { NodeState, ReshardPhase, StepNumbers } from './node-state.js';

/** The phase of a resharding as all nodes together know it. */
export type CommonPhase = 'before' | 'preparing' | 'moving' | 'done' | 'stopping' | 'aborted';

/** A node that was started again and knows less than the other nodes know of it. */
export interface NodeBehind {
  readonly address: string;
  /** The knowledge of the node, and the knowledge of the others, for people. */
  readonly own: string;
  readonly others: string;
  /** True if steps are missing on the node. False if only the beginning of the resharding has not reached it. */
  readonly isOlder: boolean;
  /** The consequences of going on with the data that the node has, for people. */
  readonly consequences: string;
  /** The least numbers that the node must go on from. */
  readonly known: StepNumbers;
}

/** Phases in the order in which one of them, on any node, decides for all nodes. */
const DECISIVE: readonly [CommonPhase, readonly ReshardPhase[]][] = [
  ['done', ['done']],
  ['aborted', ['aborted']],
  ['stopping', ['stopping', 'returning']],
  ['moving', ['moving']],
  ['preparing', ['preparing']],
];

/** Pure: the phase that all nodes together know. The furthest phase of the latest round counts. */
export function commonPhaseOf(states: readonly NodeState[]): CommonPhase {
  const phases = currentOf(states).map(({ phase }) => phase);
  return DECISIVE.find(([, some]) => phases.some((phase) => some.includes(phase)))?.[0] ?? 'before';
}

/** Phases of a resharding that is under way or done. All others leave keys where the resharding begins. */
const AWAY: readonly ReshardPhase[] = ['preparing', 'moving', 'done', 'stopping', 'returning'];

/** A state that is older than another resharding that has ended since, and the state of a node that knows of it. */
export interface OutdatedState {
  readonly state: NodeState;
  readonly witness: NodeState;
}

/** Pure: the states of nodes that came from a backup. Their keys are where they were before another resharding. */
export function findOutdated(states: readonly NodeState[]): OutdatedState[] {
  const ended = latestEndOf(states);
  const witness = states.find(({ endedRound }) => endedRound === ended) as NodeState;
  return states
    .filter(({ phase, round }) => AWAY.includes(phase) && round < ended)
    .map((state) => ({ state, witness }));
}

/** The error for a node with the state of a backup. */
export function outdatedError({ state, witness }: OutdatedState): StoreError {
  return new StoreError(
    `node ${state.address} has the state of a backup: it knows phase ${state.phase} of the resharding ${state.about} in round ` +
      `${state.round}, and node ${witness.address} knows that another resharding ended in round ${witness.endedRound}. Its keys are where ` +
      'they were then. Nothing was changed. Start it with newer data (append-only file, replica or backup). If there is none, keep a ' +
      'copy of its data, start an empty server in its place, and try again',
  );
}

function latestEndOf(states: readonly NodeState[]): number {
  return Math.max(0, ...states.map(({ endedRound }) => endedRound));
}

/** Pure: the nodes that were started again with less than the others know of them. */
export function findBehind(states: readonly NodeState[]): NodeBehind[] {
  const common = commonPhaseOf(states);
  if (common === 'before' || common === 'preparing') return [];
  const current = currentOf(states);
  return states
    .filter(({ isChecked }) => !isChecked)
    .flatMap((state) => {
      const isCurrent = current.includes(state) && state.phase !== 'preparing';
      const own = isCurrent ? state : { puts: 0, drops: 0 };
      const known = notesOf(state.id, current);
      const isOlder = own.puts < known.puts || own.drops < known.drops;
      if (isCurrent && !isOlder) return [];
      const witnesses = current.filter(({ id, phase }) => id !== state.id && phase !== 'preparing');
      return [
        {
          address: state.address,
          own: isCurrent ? describe(state.phase, own) : 'nothing of it',
          others: `${witnesses.map(({ address }) => address).join(', ')} know: ${describe(common, known)}`,
          isOlder,
          consequences: [
            ...(own.puts < known.puts ? ['keys that were moved to it and are missing there are lost'] : []),
            ...(own.drops < known.drops
              ? ['values that other nodes have are kept, and keys that were deleted since may come back']
              : []),
          ].join('; '),
          known,
        },
      ];
    });
}

/**
 * Checks that the last resharding on the nodes is this one, or has left the keys where this one begins.
 *
 * @throws StoreError naming both
 */
export function requireFit(context: ReshardContext, states: readonly NodeState[]): void {
  for (const { address, phase, about } of states)
    if (isMismatch(phase, context.sources.has(address))) throw mismatchError(context, address, phase, about);
}

/** Phases of a node on which another resharding has to end first, or has left keys elsewhere. */
export type MismatchPhase = 'other' | 'mismatch';

/**
 * Tells whether a node in this phase keeps the resharding from its beginning.
 *
 * @param isOldOwner false for a node that only takes keys: it does not matter what it had before
 */
export function isMismatch(phase: ReshardPhase, isOldOwner: boolean): phase is MismatchPhase {
  return phase === 'other' || (phase === 'mismatch' && isOldOwner);
}

/** The last resharding on a node does not fit this one. */
export class MismatchError extends StoreError {}

/** The error for a node whose last resharding does not fit this one. */
export function mismatchError(
  { description }: ReshardContext,
  address: string,
  phase: MismatchPhase,
  about: string,
): MismatchError {
  return new MismatchError(
    phase === 'other'
      ? `node ${address}: another resharding is not finished (${about}), and this one is ${description}: use its configs, ` +
          'and run that one to its end or abort it first'
      : `node ${address}: the last resharding there was ${about}, and this one is ${description}. It does not begin where that ` +
          'one ended: use the configs of the present map, with the same order of nodes and the same weights',
  );
}

/** The error for a node that came back with less than the others know of it. */
export function behindError({ address, own, others, isOlder, consequences }: NodeBehind): StoreError {
  const what = `node ${address} was started again in the middle of a resharding. It knows ${own}, but ${others}.`;
  return new StoreError(
    isOlder
      ? `${what} Its data is older than that, or missing. Nothing was changed. Start it with newer data (append-only file, ` +
          `replica or backup) if there is any, and try again. Otherwise run the resharding with acceptOlder (--accept-older ${address}): ` +
          consequences
      : `${what} Nothing was changed. Run the resharding again: it goes on with this node`,
  );
}

/** The states that belong to the latest round of this resharding, unless another one has ended since. */
function currentOf(states: readonly NodeState[]): NodeState[] {
  const ended = latestEndOf(states);
  const ours = states.filter(
    ({ phase, round }) => phase !== 'before' && !isMismatch(phase, true) && round > ended,
  );
  const latest = Math.max(0, ...ours.map(({ round }) => round));
  return ours.filter(({ round }) => round === latest);
}

/** The highest numbers that other nodes know of a node. */
function notesOf(id: string, states: readonly NodeState[]): StepNumbers {
  const notes = states.flatMap((state) => state.notes.get(id) ?? []);
  return {
    puts: Math.max(0, ...notes.map(({ puts }) => puts)),
    drops: Math.max(0, ...notes.map(({ drops }) => drops)),
  };
}

function describe(phase: string, { puts, drops }: StepNumbers): string {
  return `phase ${phase}, ${puts} batches received and ${drops} given away by this node`;
}
