import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { type BucketFindings, checkBucket } from './check-bucket.ts';
import { bucketOf, RECORD_BYTES, readRecord, type SoakRecord } from './record.ts';

/** Records that have come since the last check. */
class Fresh {
  #bytes = Buffer.alloc(64 * RECORD_BYTES);
  #length = 0;

  add(record: Uint8Array): void {
    if (this.#length === this.#bytes.length) {
      const wider = Buffer.alloc(2 * this.#length);
      wider.set(this.#bytes);
      this.#bytes = wider;
    }
    this.#bytes.set(record, this.#length);
    this.#length += record.length;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}

/**
 * Every id of a run, on disk, in a file for each store, family and bucket. In memory are the ids since the last check, and one
 * bucket while it is checked. A bucket that gets more ids, however late, is checked again as a whole. So each repetition is
 * found, whatever time lies between the two ids.
 */
export class IdArchive {
  readonly #folder: string;
  readonly #fresh = new Map<string, Fresh>();
  /** Of the buckets with something wrong. */
  readonly #findings = new Map<string, BucketFindings>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Adds whole records of a store, and calls back with each. */
  add(store: string, bytes: Uint8Array, onRecord: (record: SoakRecord) => void = () => {}): void {
    for (let at = 0; at < bytes.length; at += RECORD_BYTES) {
      const record = readRecord(bytes, at);
      const name = `${store}.${record.family}.${bucketOf(record)}`;
      const fresh = this.#fresh.get(name) ?? new Fresh();
      this.#fresh.set(name, fresh);
      fresh.add(bytes.subarray(at, at + RECORD_BYTES));
      onRecord(record);
    }
  }

  /** Checks all buckets to which something was added since the last time. */
  async check(): Promise<void> {
    const fresh = [...this.#fresh];
    this.#fresh.clear();
    for (const [name, { bytes }] of fresh) {
      const file = join(this.#folder, name);
      appendFileSync(file, bytes);
      const findings = checkBucket(readFileSync(file));
      if (findings.problems.length > 0) this.#findings.set(name, findings);
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

  /** A line for each of the first problems of each bucket. */
  get problems(): string[] {
    return [...this.#findings].flatMap(([name, { problems }]) => problems.map((line) => `${name}: ${line}`));
  }

  #sum(count: (findings: BucketFindings) => number): number {
    return [...this.#findings.values()].reduce((sum, findings) => sum + count(findings), 0);
  }
}
