import type { ReshardContext } from '../context.js';
import { type CommonPhase, commonPhaseOf, findBehind } from '../move/compare-states.js';
import { isGivenUpError, readCheckedStates } from '../move/phase.js';
import { requireDistinctServers } from './check-distinct-servers.js';
import { requirePermissions } from './check-permissions.js';
import { requireOwnMinting } from './check-sequences.js';
import { requireTargetsDurable } from './check-targets-durable.js';
import { requireTargetsEmpty } from './check-targets-empty.js';
import { KeyPlacement } from './key-placement.js';
import { KeyRule } from './key-rule.js';
import { keySettingsText, readKeySettings } from './key-settings.js';
import type { Persistence } from './persistence.js';
import { goneTargetError, type PlanOptions } from './plan-options.js';

/** The result of the checks before a resharding. */
export interface PreparedReshard {
  readonly phase: CommonPhase;
  readonly placement: KeyPlacement;
  /** The settings to keep on the nodes, as JSON. */
  readonly settings: string;
  /** The persistence of the nodes by address; empty if nobody has to wait for it. */
  readonly persistence: ReadonlyMap<string, Persistence>;
}

/**
 * Makes all checks before a resharding. Nothing is changed.
 *
 * @param acceptOlder names of nodes that may have come back with older data
 * @throws InvalidOptionError naming an option that is wrong
 * @throws StoreError naming the node that keeps the resharding from its beginning
 */
export async function prepareReshard(
  context: ReshardContext,
  options: PlanOptions,
  acceptOlder: readonly string[] = [],
): Promise<PreparedReshard> {
  await requirePermissions(context);
  const states = await readCheckedStates(context, acceptOlder);
  const phase = commonPhaseOf(states);
  if (phase === 'stopping') throw isGivenUpError(context);
  for (const address of context.gone)
    if (context.targets.has(address)) throw goneTargetError(context, address);
  // A finished resharding may be run again with other settings, for keys that were left alone.
  const stored = phase === 'moving' ? states.find(({ settings }) => settings !== '')?.settings : '';
  const settings = readKeySettings(context, options, stored);
  const { acceptVolatileTarget } = settings;
  const persistence = await requireTargetsDurable(context, acceptVolatileTarget);
  await requireDistinctServers(context);
  await requireOwnMinting(context, acceptOlder);
  const placement = new KeyPlacement(context, await KeyRule.make(context, settings));
  // While keys are moved, a value that the old and the new owner have is the work of this resharding. So it is after the end, if the
  // old owner came back with older data.
  const behind = phase === 'done' ? findBehind(states).map(({ address }) => address) : [];
  const older = new Set(behind.filter((address) => acceptOlder.includes(address)));
  if (phase !== 'moving') await requireTargetsEmpty(context, placement, older);
  return {
    phase,
    placement,
    settings: keySettingsText(settings),
    persistence: acceptVolatileTarget ? new Map() : persistence,
  };
}
