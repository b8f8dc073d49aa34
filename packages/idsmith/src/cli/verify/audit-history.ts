import type { Store } from '../../stores/store.js';
import { repeatedIds, sharedMoments, wrongTimes } from './audit-ids.js';
import { auditLeases } from './audit-leases.js';
import { auditBlocks } from './audit-sequences.js';
import { auditReadings } from './clocks.js';
import type { Family } from './families.js';
import type { History } from './history.js';
import { countIds } from './report.js';
import type { Finding } from './rules.js';

/** What is wrong with everything that processes did and minted. */
export function auditHistory(
  history: History,
  store: Store,
  families: readonly Family[],
  begin: number,
): Finding[] {
  const { calls, minted, mishaps } = history;
  const counts = countIds(history, families);
  const hasClock = store.now !== undefined && store.hostClock !== true;
  return [
    ...repeatedIds(minted),
    ...sharedMoments(minted),
    ...(hasClock ? [...wrongTimes(minted, begin, Date.now()), ...auditReadings(calls)] : []),
    ...auditLeases(calls, { quiet: false, guarded: store.guarded === true }),
    ...auditBlocks(calls, false),
    ...mishaps.map((detail): Finding => ({ rule: ruleOf(detail), detail })),
    ...families
      .filter((family) => counts[family] === 0)
      .map((family): Finding => ({ rule: 'service', detail: `no process got an id of ${family}` })),
  ];
}

/** The rule behind an error that no process should meet. */
const ruleOf = (mishap: string) => (mishap.includes('NO_SUCH_SEQUENCE') ? 'present' : 'service');
