import { systemClock } from '../clock.js';
import { StoreError } from '../errors.js';
import {
  type Ceiling,
  COVERED_LOSS,
  DEFAULT_MAX_JUMP,
  firstCeiling,
  isCovered,
  isDue,
  nextCeiling,
} from '../lineage/ceiling.js';
import {
  followStore,
  further,
  judgeSequence,
  type Moment,
  mayBeForgotten,
  type SequencePast,
  type StorePast,
  type Verdict,
} from '../lineage/judge.js';
import { wentBack } from '../lineage/went-back.js';
import { show } from '../options.js';
import { report } from '../support/diagnostics.js';
import { isOver, positionOf, type SequenceRow, settle } from './blocks.js';

/** What a store remembers of its sequences beside their rows. Each operation is one step. */
interface PastRecords<Past extends SequencePast = SequencePast> {
  /** The record of a sequence, by the name in its row, and what the store tells of itself at the same moment. */
  read(name: string): Promise<Moment & { readonly past: Past | undefined }>;
  /** Replaces the record, if it still is `expected`, and the store still has the lineage of `next`. Returns whether it was replaced. */
  write(name: string, expected: Past | undefined, next: Past): Promise<boolean>;
}

/** Records with ceilings, of stores whose sequences continue without a person. */
export interface CeilingRecords extends PastRecords<Ceiling> {
  readonly hasCeilings: true;
  /** The longest way from the position of a sequence to its ceiling, in ids. Default 10,000,000. */
  readonly maxJump?: number;
}

/** Records without ceilings, of stores that can come back with nothing. The error tells a person what to do. */
export interface BareRecords extends PastRecords {
  readonly hasCeilings: false;
  forgotten(name: string): StoreError;
  /** Makes the sequence wait for a person, who says where it goes on. */
  distrust(name: string): Promise<void>;
}

/** The name of the record of the store itself. No sequence has it. */
const STORE = '';

/** The most times that others may be quicker to write the record of the store. */
const MAX_TRIES = 20;

/** A moment of a store that tells its lineage. */
type PresentMoment = Moment & { readonly lineage: string };

/** A sequence that is about to be defined. */
export interface Birth {
  /** Its row, in the lineage that was looked at. */
  readonly row: SequenceRow;
  /** Is called when the row is written. */
  begin(): Promise<void>;
  /** The error if the range is too small to begin beyond what may be lost. Nothing is written then. */
  readonly refusal?: () => StoreError;
}

/** A record as it was last seen, and the clocks at that moment. */
interface Seen {
  /** The generation of the row that the record was seen with. */
  readonly generation: number;
  readonly past: SequencePast;
  readonly storeTime: number;
  readonly ownTime: number;
}

/** The pasts of the sequences of a store: decides where a sequence goes on, and keeps its ceiling ahead. */
export class SequencePasts {
  readonly #records: CeilingRecords | BareRecords;
  readonly #seen = new Map<string, Seen>();
  /** The next ceilings that are being written, by sequence. */
  readonly #rising = new Map<string, Promise<void>>();
  readonly #warnings = new Map<string, string>();
  /** The last lineage that the record of the store was brought to. */
  #followed: string | undefined;

  constructor(records: CeilingRecords | BareRecords) {
    this.#records = records;
  }

  /** What an operator should know. */
  get warnings(): readonly string[] {
    return [...this.#warnings.values()];
  }

  /**
   * True if numbers may be taken from a row without another look at the past. A row of another generation needs one: a database that has failed
   * over and back tells its first lineage again, and the sequence was moved in between.
   */
  isKnown({ name, lineage, generation }: SequenceRow): boolean {
    if (lineage === undefined) return true;
    const seen = this.#seen.get(name);
    return seen?.past.lineage === lineage && seen.generation === generation;
  }

  /** Forgets a sequence that was removed. */
  forget(name: string): void {
    this.#seen.delete(name);
    this.#warnings.delete(`uncovered ${name}`);
  }

  /**
   * Decides whether numbers may be taken from a row that was just read.
   *
   * @returns `undefined` if the row must be read again
   * @throws StoreError when only a person can tell where to go on
   */
  async judge(row: SequenceRow): Promise<Verdict | undefined> {
    if (this.isKnown(row)) return GO_ON;
    const { name, lineage, step } = row;
    const told = await this.#records.read(name);
    if (told.lineage !== lineage) return undefined;
    const isBehind = told.past !== undefined && told.past.lineage !== lineage;
    if (isBehind || this.#followed !== lineage) await this.#followFrom(told.past);
    const verdict = judgeSequence(told.past, lineage, positionOf(row), step);
    if (verdict.kind === 'refuse') throw (this.#records as BareRecords).forgotten(name);
    if (verdict.kind === 'record' || (verdict.kind === 'continue-at' && isAtRest(row)))
      return (await this.#record(row, told, false)) ? GO_ON : undefined;
    if (verdict.kind === 'go-on') this.#remember(row, told.past as SequencePast, told);
    return verdict;
  }

  /**
   * Records that a row is whole again in its lineage: its sequence was moved beyond everything that may have been given out. The row
   * must have been written before.
   *
   * @returns false if the record was changed by others, or the store has gone back again: read again then
   */
  async confirm(row: SequenceRow): Promise<boolean> {
    const { name, lineage } = row;
    if (this.isKnown(row)) return true;
    const told = await this.#records.read(name);
    if (told.lineage !== lineage) return false;
    if (told.past?.lineage === lineage) return true;
    return this.#record(row, told, false);
  }

  /**
   * Records the first ceiling of a sequence that is about to be defined, before its row. Where the sequence may have been there before, in
   * writes that are lost, it begins as many jumps further on as there were losses.
   *
   * @param notBefore a time before which none of its numbers can have been given out, Unix ms
   */
  async prepare(defined: SequenceRow, notBefore: number): Promise<Birth> {
    const store = await this.#follow((moment, past) => followStore(past, moment));
    if (store === undefined) return { row: defined, begin: async () => {} };
    const { lineage } = store;
    const told = await this.#records.read(defined.name);
    if (store.lossAt === 0) this.#warnings.delete(STORE);
    const isNew = defined.cycle || !mayBeForgotten(store, notBefore);
    const start = positionOf(defined);
    const jump = this.#firstCeiling(defined, start, lineage, told.now, true).ceiling - start;
    // One jump for each loss: what was lost before, and defined again, has used the first jump.
    const next = isNew ? start : start + jump * BigInt(store.losses);
    const row = { ...settle(defined, next), lineage };
    if (!isNew && isOver(row)) return { row, begin: async () => {}, refusal: () => tooSmall(defined) };
    if (told.past === undefined) await this.#record(row, told, true);
    return {
      row,
      begin: async () => {
        // The record of an earlier sequence of the name.
        if (told.past !== undefined) await this.#record(row, told, false);
        if (!isNew) this.#tellAhead(defined, next);
      },
    };
  }

  /**
   * Notes at the word of a person that all sequences are new that are not in the store.
   *
   * @throws StoreError when others keep writing the record of the store
   */
  async vouch(): Promise<void> {
    await this.#follow(({ lineage }) => ({ lineage, lossAt: 0, losses: 0 }));
    this.#warnings.delete(STORE);
  }

  /** True if a sequence that is not in the store may be lost. */
  async isDoubtful(): Promise<boolean> {
    const store = await this.#follow((moment, past) => followStore(past, moment));
    return store !== undefined && store.lossAt > 0;
  }

  /**
   * Notes that the store may have lost sequences, which its lineage does not tell.
   *
   * @param since a time before the loss, ms: one that was noted at that time or later is the same one
   * @throws StoreError when others keep writing the record of the store
   */
  async doubt(since: number): Promise<void> {
    await this.#follow(({ now, lineage }, past) => {
      const isNoted = past?.lineage === lineage && past.lossAt >= since;
      return isNoted ? past : { lineage, lossAt: now, losses: (past?.losses ?? 0) + 1 };
    });
  }

  /**
   * The number at which a sequence goes on after its store was restored. `undefined` if a person must tell: until then, nothing is given out.
   *
   * @param seen a number before which all may have been given out. If the ceiling is not beyond it, another ceiling was lost: then the sequence
   * goes on as far ahead as a ceiling is.
   */
  async placeAfterRestore(row: SequenceRow, seen?: bigint): Promise<bigint | undefined> {
    const records = this.#records;
    if (!records.hasCeilings) await records.distrust(row.name);
    const { past, now } = await (records as PastRecords).read(row.name);
    if (past?.ceiling === undefined) return undefined;
    const place = further(positionOf(row), past.ceiling, row.step);
    if (seen === undefined || further(seen, place, row.step) === place) return place;
    return this.#firstCeiling(row, seen, past.lineage, now, false).ceiling;
  }

  /** Records a new ceiling for a sequence that was moved after its store was restored. Returns false if others were quicker. */
  async recordAgain(row: SequenceRow): Promise<boolean> {
    const told = await this.#records.read(row.name);
    return told.lineage === row.lineage && this.#record(row, told, false);
  }

  /** Notes that numbers before `position` are given out. Writes the next ceiling in the background when it is time. */
  note(row: SequenceRow, position: bigint): void {
    const seen = this.#seen.get(row.name);
    if (!this.#records.hasCeilings || seen === undefined || row.cycle) return;
    const past = seen.past as Ceiling;
    const now = seen.storeTime + systemClock.now() - seen.ownTime;
    if (isCovered(past, position, row.step, now)) this.#warnings.delete(`uncovered ${row.name}`);
    else this.#tellUncovered(row.name, position);
    if (!isDue(past, position, row.step, now) || this.#rising.has(row.name)) return;
    const rising = this.#rise(row, position)
      .catch(() => undefined)
      .finally(() => this.#rising.delete(row.name));
    this.#rising.set(row.name, rising);
  }

  /** Resolves when no ceiling is being written. */
  async settled(): Promise<void> {
    await Promise.all(this.#rising.values());
  }

  /** Tells of a sequence that continues elsewhere. */
  tellMoved(row: SequenceRow, next: bigint): void {
    const { name } = row;
    const { message } = wentBack({
      message:
        `the store has lost acknowledged writes. In what is left, sequence ${show(name)} is at ${positionOf(row)}. It continues at ` +
        `${next}, beyond all numbers of the last ${COVERED_LOSS / 1000} s before the loss, unless it was reported as uncovered`,
      sequence: name,
      next,
    });
    this.#warnings.set(`moved ${name}`, message);
  }

  /** Brings the record of the store to its present lineage. The past of a sequence tells of a loss where there is no record yet. */
  #followFrom(past: SequencePast | undefined): Promise<StorePast | undefined> {
    const before = past && { lineage: past.lineage, lossAt: 0, losses: 0 };
    return this.#follow((moment, own) => followStore(own ?? before, moment));
  }

  /**
   * Brings the record of the store itself to its present lineage. Gives what the store remembers then; `undefined` if it tells no lineage.
   *
   * @param judge makes the next record of the present one
   */
  async #follow(
    judge: (moment: PresentMoment, past: StorePast | undefined) => StorePast,
  ): Promise<StorePast | undefined> {
    const records = this.#records;
    if (!records.hasCeilings) return undefined;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { now, lineage, past: stored } = await records.read(STORE);
      if (lineage === undefined) return undefined;
      const past = stored && storePast(stored);
      const next = judge({ now, lineage }, past);
      if (!isSame(past, next) && !(await records.write(STORE, stored, storeRecord(next)))) continue;
      this.#followed = lineage;
      return next;
    }
    throw new StoreError(
      `the store changed its lineage, or others noted that, ${MAX_TRIES} times in a row: try again later`,
      { reason: 'CONFLICT' },
    );
  }

  async #rise(row: SequenceRow, position: bigint): Promise<void> {
    const records = this.#records as CeilingRecords;
    const told = await records.read(row.name);
    if (told.past === undefined || told.past.lineage !== told.lineage) return;
    this.#remember(row, told.past, told);
    if (!isDue(told.past, position, row.step, told.now)) return;
    const next = nextCeiling(told.past, row, position, told.now, records.maxJump ?? DEFAULT_MAX_JUMP);
    if (await records.write(row.name, told.past, next)) this.#remember(row, next, told);
  }

  async #record(
    row: SequenceRow,
    told: Moment & { readonly past: SequencePast | undefined },
    isBorn: boolean,
  ): Promise<boolean> {
    const records = this.#records;
    const lineage = row.lineage as string;
    const past = records.hasCeilings
      ? this.#firstCeiling(row, positionOf(row), lineage, told.now, isBorn)
      : { lineage, ceiling: undefined };
    const isWritten = await (records as PastRecords).write(row.name, told.past, past);
    if (isWritten && !isBorn) this.#remember(row, past, told);
    return isWritten;
  }

  #firstCeiling(row: SequenceRow, position: bigint, lineage: string, now: number, isBorn: boolean): Ceiling {
    const { maxJump = DEFAULT_MAX_JUMP } = this.#records as CeilingRecords;
    return firstCeiling(row, position, lineage, now, isBorn, maxJump);
  }

  #remember({ name, generation }: SequenceRow, past: SequencePast, { now }: Moment): void {
    this.#seen.set(name, { generation, past, storeTime: now, ownTime: systemClock.now() });
  }

  /** Tells of a new sequence that does not begin at its start. */
  #tellAhead({ name, start }: SequenceRow, next: bigint): void {
    const message =
      `the store has lost acknowledged writes at some time. Sequence ${show(name)} may have been among them, so it begins at ${next} and not ` +
      `at ${start}. If you know that no sequence was lost, say so with idsmith init: then new ones begin at their start`;
    this.#warnings.set(STORE, message);
    report('idsmith:store', () => ({ event: 'begun-ahead', sequence: name, next, message }));
  }

  #tellUncovered(name: string, position: bigint): void {
    const key = `uncovered ${name}`;
    if (this.#warnings.has(key)) return;
    const message =
      `sequence ${show(name)} grows faster than its ceiling: a loss of the store's last writes could repeat numbers before ${position}. ` +
      'This ends by itself within minutes, or with a higher maxJump';
    this.#warnings.set(key, message);
    report('idsmith:store', () => ({ event: 'uncovered', sequence: name, next: position, message }));
  }
}

const GO_ON: Verdict = { kind: 'go-on' };

/** The record of a store, which has the form of a ceiling. */
const storeRecord = ({ lineage, lossAt, losses }: StorePast): Ceiling => ({
  lineage,
  ceiling: BigInt(losses),
  matured: 0n,
  base: 0n,
  writtenAt: lossAt,
});

const storePast = ({ lineage, ceiling, writtenAt }: Ceiling): StorePast => ({
  lineage,
  lossAt: writtenAt,
  losses: Number(ceiling),
});

const isSame = (past: StorePast | undefined, next: StorePast) =>
  past?.lineage === next.lineage && past.lossAt === next.lossAt && past.losses === next.losses;

function tooSmall({ name }: SequenceRow): StoreError {
  return wentBack({
    message:
      `the store has lost acknowledged writes at some time. Sequence ${show(name)} may have been among them, and its range is too small to begin ` +
      'beyond its numbers. Define it with lost: true (--lost) and a start beyond them. Or if you know that no sequence was lost, say so with idsmith init',
    sequence: name,
  });
}

/**
 * True if a sequence is not moved after a loss: a cycle repeats on purpose, and nothing comes after the last number of 64 bits. A sequence
 * that has reached its own limit is moved, because the limit may be raised.
 */
export const isAtRest = (row: SequenceRow) => row.cycle || (row.exhausted && positionOf(row) !== row.next);
