import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { originOf } from '../families.js';
import { type IdRecord, RECORD_BYTES, readRecords } from '../history/history.js';
import { auditIds, type IdFindings } from './audit.js';

const MINUTE = 60_000;
/** Ids of a sequence that go into one bucket: about as many as the processes of a store mint in a minute or two. */
const SEQUENCE_BUCKET = 2n ** 14n;
/** The most findings of a bucket that are told. */
const SHOWN = 5;

/**
 * Every id of a run, on disk, in a file for each store, family and bucket. In memory are the ids since the last check, and one
 * bucket while it is checked. A bucket that gets more ids, however late, is checked again as a whole. So each repetition is
 * found, whatever time lies between the two ids.
 */
export class IdArchive {
  readonly #folder: string;
  readonly #fresh = new Map<string, Uint8Array[]>();
  /** Of the buckets with something wrong. */
  readonly #findings = new Map<string, IdFindings>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Adds whole records of a store, and calls back with each. */
  add(store: string, bytes: Uint8Array, onRecord: (record: IdRecord) => void = () => {}): void {
    const buckets = new Map<string, Uint8Array[]>();
    let at = 0;
    for (const record of readRecords(bytes)) {
      const name = `${store}.${record.family}.${bucketOf(record)}`;
      const records = buckets.get(name) ?? [];
      buckets.set(name, records);
      records.push(bytes.subarray(at, at + RECORD_BYTES));
      at += RECORD_BYTES;
      onRecord(record);
    }
    // Copied together: millions of small arrays would take several times the memory of the ids.
    for (const [name, records] of buckets)
      this.#fresh.set(name, [...(this.#fresh.get(name) ?? []), Buffer.concat(records)]);
  }

  /** Checks all buckets to which something was added since the last time. */
  async check(): Promise<void> {
    const fresh = [...this.#fresh];
    this.#fresh.clear();
    for (const [name, records] of fresh) {
      const file = join(this.#folder, name);
      appendFileSync(file, Buffer.concat(records));
      const findings = auditIds(readRecords(readFileSync(file)));
      if (findings.findings.length > 0) this.#findings.set(name, findings);
      // Proxies of the run live in this process.
      await breathe();
    }
  }

  /** Ids that were handed out before, as of the last check. */
  get duplicates(): number {
    return this.#sum(({ duplicates }) => duplicates);
  }

  /** Moments of a node id that two sources have used, as of the last check. */
  get sharedMoments(): number {
    return this.#sum(({ sharedMoments }) => sharedMoments);
  }

  /** A line for each of the first findings of each bucket. */
  get problems(): string[] {
    return [...this.#findings].flatMap(([name, { findings }]) =>
      findings.slice(0, SHOWN).map(({ detail }) => `${name}: ${detail}`),
    );
  }

  #sum(count: (findings: IdFindings) => number): number {
    return [...this.#findings.values()].reduce((sum, findings) => sum + count(findings), 0);
  }
}

/**
 * The bucket of an id. Equal ids have equal buckets, because only the id itself decides: the minute that the id says, or the
 * range of a sequence.
 */
function bucketOf({ family, id }: IdRecord): number {
  if (family === 'sequences') return Number(id / SEQUENCE_BUCKET);
  const time = family === 'keys' ? Number(id >> 16n) : originOf(family, id)?.time;
  return Math.floor((time as number) / MINUTE);
}
