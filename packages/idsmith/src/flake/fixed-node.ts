import { processTicks } from '#runtime';
import { type Clock, isMachineClock } from '../clock.js';
import type { Layout } from './layout.js';
import { OwnState } from './state.js';
import { TickSlot } from './tick-table.js';

/** The states of fixed nodes in this thread on the machine's clock, by layout and node. */
const states = new Map<string, OwnState>();

/**
 * The state of a fixed node. On the machine's clock, generators of this thread with the same layout and node share one
 * state, which claims its ticks among those of other threads. With another clock, as in tests, each generator has a state
 * of its own.
 *
 * @throws InvalidOptionError when the process has used too many fixed nodes
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

function opened(state: OwnState, window: { node: number; from: number; until: number }): OwnState {
  state.move(window, 0);
  return state;
}
