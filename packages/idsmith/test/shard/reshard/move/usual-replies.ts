import { packArray } from '../../../../src/encoding/message-pack.ts';
import type { Reply } from './scripted-node.ts';

/** The replies of nodes on which nothing stands in the way of a resharding in its first round. */
export const PHASE_REPLIES: Readonly<Record<string, Reply>> = {
  PREPARE_RESHARD: ['preparing', '', 1, 0],
  BEGIN_RESHARD: ['moving', '', 0, 0, 1],
  STOP_RESHARD: ['returning', '', 0, 0],
  FINISH_RESHARD: ['moving', '', 1, 1],
  CHECK_STATE: ['preparing', '', 1, 1],
  CANCEL_RESHARD: ['preparing', '', 1, 1],
};

const bytes = (value: string) => new TextEncoder().encode(value);

/** The values that a source has: `1`, `22`, `333` and so on. */
const valuesOf = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1).repeat(i + 1));

/** A reply of TAKE for these letters. */
export function taken(letters: string): Reply {
  return ([, , , , name]) => {
    const values = valuesOf([...letters].filter((letter) => letter === 't').length);
    return [
      ...[`${name}.7`, letters, packArray(values.map(bytes)), `${values.length} digest`, ''],
      values.reduce((sum, value) => sum + value.length, 0),
    ];
  };
}

/** The replies of nodes that move keys without any trouble. */
export const MOVE_REPLIES: Readonly<Record<string, Reply>> = {
  CLAIM_KEYS: ([, , , , name], count) => [`${name}.3`, 'f'.repeat(count)],
  TAKE_KEYS: (args, count) =>
    (taken('t'.repeat(count)) as (args: readonly unknown[], count: number) => unknown[])(args, count),
  PUT_KEYS: (_, count) => ['c'.repeat(count), '', 1],
  DROP_KEYS: (_, count) => ['d'.repeat(count), 9],
  SETTLE_KEYS: (_, count) => ['s'.repeat(count)],
  FREE_ORPHANS: [''],
  NOTE_STEP: ['moving', '', 1, 5],
};
