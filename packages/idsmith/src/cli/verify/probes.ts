import { setTimeout as sleep } from 'node:timers/promises';
import type { LeaseRecord } from '../../lease/port.js';
import type { Store } from '../../stores/store.js';
import { auditLeases } from './audit-leases.js';
import { auditBlocks } from './audit-sequences.js';
import { auditReadings } from './clocks.js';
import { Notebook, recorded } from './history.js';
import type { Finding } from './rules.js';
import type { Site } from './site.js';

const ROUNDS = 40;
/** Replicas that are behind have caught up after this time, ms. */
const CATCH_UP = 500;
/** The first id that a rounded number cannot express. */
const FIRST = 2n ** 53n + 1n;

/** What two connections found that wrote and read in turns, without any fault, and all their calls. */
export interface Probed {
  readonly findings: Finding[];
  readonly notebook: Notebook;
}

/** Writes with one connection, reads with the other, and judges the answers. */
export async function probe(stores: readonly [Store, Store], site: Site): Promise<Probed> {
  const notebook = new Notebook();
  const [one, other] = stores.map((store, i) =>
    recorded(store, notebook.takeDown(`connection ${i + 1}`)),
  ) as [Store, Store];
  const sequence = `${site.base}probe`;
  const inexact = await probeExactness(one, sequence);
  if (inexact.length > 0) return { findings: inexact, notebook };
  const guarded = one.guarded === true;
  if (!guarded) await probeRecords(one, other, site);
  for (let i = 0; i < ROUNDS; i++) await (i % 2 === 0 ? one : other).allocate(sequence, 1 + (i % 3));
  const calls = notebook.calls;
  const findings = [
    ...auditLeases(calls, { quiet: true, guarded }),
    ...auditBlocks(calls, true),
    ...auditReadings(calls),
  ];
  return { findings, notebook };
}

/** A sequence beyond 2^53, whose first id is known. */
async function probeExactness(store: Store, name: string): Promise<Finding[]> {
  await store.defineSequence({ name, start: FIRST, blockSize: 1 });
  const { start } = await store.describeSequence(name);
  const { first } = await store.allocate(name, 1);
  return [start, first]
    .filter((id) => id !== FIRST)
    .map((id) => ({
      rule: 'exact',
      detail: `a sequence was defined with the first id ${FIRST}, and the store gave ${id}`,
    }));
}

/** One record that both connections change in turns. A swap with an outdated record comes now and then, and must be refused. */
async function probeRecords(one: Store, other: Store, site: Site): Promise<void> {
  const namespace = `${site.base}probe`;
  await site.note(namespace);
  let current: LeaseRecord | undefined;
  for (let i = 1; i <= ROUNDS; i++) {
    const [writer, reader] = i % 2 === 0 ? [one, other] : [other, one];
    const next = recordOf(i, `probe ${i}`);
    const isDone = await writer.swapLease(namespace, current, next);
    await writer.now?.();
    const [seen] = await reader.listLeases(namespace);
    if (i % 5 === 0) await reader.swapLease(namespace, current, recordOf(i, `outdated ${i}`));
    current = isDone ? next : seen;
  }
  await sleep(CATCH_UP);
  for (const store of [one, other]) await store.listLeases(namespace);
}

/** A record with the largest numbers that a lease can have. */
function recordOf(epoch: number, owner: string): LeaseRecord {
  const fence = Number.MAX_SAFE_INTEGER - 2 * ROUNDS + epoch;
  return { id: 0, owner, epoch, fence, expiresAt: fence, label: 'idsmith verify' };
}
