import { processTicks } from '#runtime';
import { type Clock, systemClock } from '../clock.js';
import type { Layout } from './layout.js';
import { OwnState } from './state.js';
import { TickSlot } from './tick-table.js';

/** The states of fixed nodes on the machine's clock in this thread, by layout and node. */
const states = new Map<string, OwnState>();

/**
 * The state of a fixed node: one of its own if the clock is the user's, as in tests. On the machine's clock it is the same
 * for all generators of this thread that would otherwise make the same ids, and claims its ticks among those of other
 * threads.
 *
 * @throws InvalidOptionError when the process has had too many fixed nodes
 */
export function fixedNodeState(layout: Layout, node: number, clock: Clock): OwnState {
  const window = { node, from: 0, until: Number.POSITIVE_INFINITY };
  if (!isMachineClock(clock)) return opened(new OwnState(layout.max('sequence')), window);
  const key = `${layout.fingerprint} ${node}`;
  let state = states.get(key);
  if (state === undefined) {
    state = opened(new OwnState(layout.max('sequence'), TickSlot.of(processTicks(), key)), window);
    states.set(key, state);
  }
  return state;
}

function isMachineClock(clock: Clock): boolean {
  return clock === systemClock || clock === Date;
}

function opened(state: OwnState, window: { node: number; from: number; until: number }): OwnState {
  state.move(window, 0);
  return state;
}
