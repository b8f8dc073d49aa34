import { InvalidOptionError } from '../errors.js';
import { isA, refuse, requireKnown, requireSharedMemory } from '../options.js';
import type { Layout } from './layout.js';
import type { SharedFlake } from './options.js';
import type { FlakeRules } from './pace.js';
import { SHARED_BYTES } from './shared-state.js';
import type { SlotHandle } from './tick-table.js';

const HANDLE_NAMES = ['state', 'layout', 'onFull', 'onClockBack', 'maxBackward', 'turns'];

/** @throws InvalidOptionError when the runtime or the layout does not allow a shared state */
export function requireShareable({ fields }: Layout): void {
  requireSharedMemory();
  const wide = fields.time.bits + fields.sequence.bits;
  if (wide > 62)
    throw new InvalidOptionError(`share() needs timeBits + sequenceBits to be 62 at most, not ${wide}`);
}

/** The handle of a shared state. */
export function handleOf(
  state: SharedArrayBuffer,
  { epoch, tick, order, fields }: Layout,
  rules: FlakeRules,
  turns: SlotHandle | undefined,
): SharedFlake {
  const layout = {
    ...{ epoch, tick, order },
    timeBits: fields.time.bits,
    nodeBits: fields.node.bits,
    sequenceBits: fields.sequence.bits,
  };
  return { state, layout, ...rules, ...(turns && { turns }) };
}

/**
 * Checks a handle, which may have come from anywhere.
 *
 * @throws InvalidOptionError when the handle is not from `share()`, or has a name that it does not know
 */
export function requireHandle(handle: SharedFlake): SharedFlake {
  if (!isA('SharedArrayBuffer', handle?.state) || handle.state.byteLength !== SHARED_BYTES)
    refuse('handle', 'a handle from share()', handle);
  if (handle.turns !== undefined) requireKnown('handle.turns', handle.turns, ['memory', 'slot', 'group']);
  return requireKnown('handle', handle, HANDLE_NAMES);
}
