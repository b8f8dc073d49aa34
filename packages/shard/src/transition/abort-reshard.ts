import { InvalidOptionError, requireKnown } from 'idsmith/internal';
import type { ShardMap } from '../map/shard-map.js';
import { handOver, releaseNodes } from '../mint/handover.js';
import { askNodes, requireAnswers } from '../mint/node-sequence.js';
import {
  requireDistinctServers,
  requirePermissions,
  requireTargetsDurable,
  requireWayBack,
} from '../reshard/checks.js';
import { ClusterConnection } from '../reshard/cluster-connection.js';
import { commonPhaseOf } from '../reshard/compare-states.js';
import { ReshardContext } from '../reshard/context.js';
import { KeyPlacement, KeyRule } from '../reshard/key-placement.js';
import { moveAllKeys } from '../reshard/move-all-keys.js';
import {
  goneTargetError,
  MOVE_OPTION_NAMES,
  type MoveOptions,
  readKeySettings,
  readMoveOptions,
} from '../reshard/options.js';
import { finishReshard, readCheckedStates, stopReshard } from '../reshard/phase.js';
import { ProgressTracker } from '../reshard/progress.js';
import type { ReshardReport } from './reshard.js';
import { type ReshardOutcome, startTransition } from './transition-routing.js';

/**
 * Gives a resharding up, in any phase but the last: returns every key, with its TTL, to the node that owns it in `from`, and hands
 * minting back. Applications may read and write the keys meanwhile through maps in transition. An abort that was stopped or
 * killed continues when it is run again. It cannot be taken back: the resharding may begin again after its end.
 *
 * @param from the old map of the resharding
 * @param to the new map of the resharding
 * @throws InvalidOptionError when the resharding is finished
 * @throws StoreError naming a node that failed. Run `abortReshard` again.
 *
 * @example
 * await abortReshard(new ShardMap(four), new ShardMap(six));
 */
export async function abortReshard(
  from: ShardMap<unknown>,
  to: ShardMap<unknown>,
  options: MoveOptions = {},
): Promise<ReshardReport> {
  requireKnown('options', options, MOVE_OPTION_NAMES);
  const context = new ReshardContext(from, to);
  const reversed = context.reversed();
  const settings = readMoveOptions(reversed, options);
  const { signal, acceptOlder, onProgress, onBegin } = settings;
  signal?.throwIfAborted();

  const progress = new ProgressTracker(reversed, onProgress);
  const endTransition = startTransition(context);
  let outcome: ReshardOutcome = 'not begun';
  try {
    await requirePermissions(context);
    const states = await readCheckedStates(context, acceptOlder);
    const phase = commonPhaseOf(states);
    if (phase === 'done')
      throw new InvalidOptionError(
        `the resharding ${context.description} is finished: to go back, reshard in the other direction`,
      );
    for (const address of context.gone)
      if (reversed.targets.has(address)) throw goneTargetError(reversed, address);
    await requireDistinctServers(context);
    const hasBegun = phase !== 'before' && phase !== 'aborted';
    if (hasBegun) await requireWayBack(reversed);
    const stored = states.find((state) => state.settings !== '')?.settings;
    const rule = await KeyRule.make(context, readKeySettings(context, {}, stored));
    const placement = new KeyPlacement(reversed, rule);
    const persistence = await requireTargetsDurable(reversed, true);
    onBegin();
    if (await isHandedOver(context)) {
      // The resharding has not ended, so nobody can have taken minting over from the new nodes. If they know nothing of theirs, the
      // handover was killed before it reached them, or they have lost their sequences.
      const unaware = to.sequences.map(({ node }) => node.address);
      await handOver(to.sequences, from.sequences, { gone: [...context.gone], acceptOlder: unaware });
    } else await releaseNodes(to.sequences.filter(({ node }) => !context.gone.has(node.address)));
    let lapsed = 0;
    const clusters = context.nodes.filter((node) => node instanceof ClusterConnection);
    if (hasBegun) {
      outcome = 'not finished';
      const stopped = await stopReshard(context, signal, acceptOlder);
      const { round } = stopped;
      lapsed = stopped.lapsed;
      const parts = {
        context: reversed,
        round,
        direction: 'back',
        placement,
        persistence,
        progress,
      } as const;
      const { reshardId, description } = context;
      for (const cluster of clusters) await cluster.openSlots(reshardId, round, description);
      await moveAllKeys(parts, settings);
      for (const cluster of clusters) await cluster.closeSlots(round);
      await finishReshard(context, round, 'aborted');
    }
    outcome = 'aborted';
    return { ...progress.totals(), lapsed, mintedBefore: [] };
  } finally {
    await endTransition(outcome);
  }
}

/** Tells whether minting was handed over to the new nodes, or is about to be. */
async function isHandedOver({ from, to, gone }: ReshardContext): Promise<boolean> {
  const next = to.sequences[0]?.nodeSet.fingerprint;
  if (from.sequences[0]?.nodeSet.fingerprint === next) return false;
  const sequences = from.sequences.filter(({ node }) => !gone.has(node.address));
  const answers = requireAnswers(await askNodes(sequences, (sequence) => sequence.readStatus()));
  return answers.some(([, status]) => status.fingerprint === next || status.next === next);
}
