import { StoreError } from '../../../errors.js';
import type { ReshardContext } from '../context.js';
import type { NodeState, ReshardPhase, StepNumbers } from './node-state.js';

/** The phase of a resharding as all nodes together know it. */
export type CommonPhase = 'before' | 'preparing' | 'moving' | 'done' | 'stopping' | 'aborted';

/** A node that was started again and knows less than the other nodes know of it. */
export interface NodeBehind {
  readonly name: string;
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
      const known = notesOf(state.name, current);
      const isOlder = own.puts < known.puts || own.drops < known.drops;
      if (isCurrent && !isOlder) return [];
      const witnesses = current.filter(({ name, phase }) => name !== state.name && phase !== 'preparing');
      return [
        {
          name: state.name,
          own: isCurrent ? describe(state.phase, own) : 'nothing of it',
          others: `${witnesses.map(({ name }) => name).join(', ')} know: ${describe(common, known)}`,
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
  for (const { name, phase, about } of states)
    if (phase === 'other' || (phase === 'misfit' && context.sources.has(name)))
      throw misfitError(context, name, phase, about);
}

/** The last resharding on a node does not fit this one. */
export class MisfitError extends StoreError {}

/** The error for a node whose last resharding does not fit this one. */
export function misfitError(
  { description }: ReshardContext,
  name: string,
  phase: 'other' | 'misfit',
  about: string,
): MisfitError {
  return new MisfitError(
    phase === 'other'
      ? `node ${name}: another resharding is not finished (${about}), and this one is ${description}: use its configs, ` +
          'and run that one to its end or abort it first'
      : `node ${name}: the last resharding there was ${about}, and this one is ${description}. It does not begin where that ` +
          'one ended: use the configs of the present map, with the same order of nodes and the same weights',
  );
}

/** The error for a node that came back with less than the others know of it. */
export function behindError({ name, own, others, isOlder, consequences }: NodeBehind): StoreError {
  const what = `node ${name} was started again in the middle of a resharding. It knows ${own}, but ${others}.`;
  return new StoreError(
    isOlder
      ? `${what} Its data is older than that, or missing. Nothing was changed. Start it with newer data (append-only file, ` +
          `replica or backup) if there is any, and try again. Otherwise run the resharding with acceptOlder (--accept-older ${name}): ` +
          consequences
      : `${what} Nothing was changed. Run the resharding again: it goes on with this node`,
  );
}

/** The states that belong to the latest round of this resharding. */
function currentOf(states: readonly NodeState[]): NodeState[] {
  const ours = states.filter(({ phase }) => phase !== 'before' && phase !== 'other' && phase !== 'misfit');
  const latest = Math.max(0, ...ours.map(({ round }) => round));
  return ours.filter(({ round }) => round === latest);
}

/** The highest numbers that other nodes know of a node. */
function notesOf(name: string, states: readonly NodeState[]): StepNumbers {
  const notes = states.flatMap((state) => state.notes.get(name) ?? []);
  return {
    puts: Math.max(0, ...notes.map(({ puts }) => puts)),
    drops: Math.max(0, ...notes.map(({ drops }) => drops)),
  };
}

function describe(phase: string, { puts, drops }: StepNumbers): string {
  return `phase ${phase}, ${puts} batches received and ${drops} given away by this node`;
}
