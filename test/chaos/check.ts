import { nodeOf, timeOf } from './layout.ts';
import type { Family } from './minter.ts';

/** An id of any family, with what it says. */
export interface Read {
  readonly id: bigint;
  readonly node: number;
  /** Unix ms; of a flake, when its tick began. */
  readonly time: number;
}

/** What one process has handed out, in order, for each of its generators. */
export interface Ledger {
  readonly name: string;
  readonly family: Family;
  readonly runs: readonly (readonly Read[])[];
}

/** How many of each kind of problem are described. */
const SHOWN = 5;

/** What a process has written, read. */
export function readLedger(name: string, family: Family, bytes: Uint8Array): Ledger {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const runs: Read[][] = [];
  for (let at = 0; at < bytes.length; at += family === 'flake' ? 8 : 16) {
    const read = family === 'flake' ? readFlake(view, at) : readLocality(view, at);
    if (read.id === 0n) runs.push([]);
    else runs.at(-1)?.push(read);
  }
  return { name, family, runs };
}

function readFlake(view: DataView, at: number): Read {
  const id = view.getBigUint64(at, true);
  return { id, node: nodeOf(id), time: timeOf(id) };
}

function readLocality(view: DataView, at: number): Read {
  const id = (view.getBigUint64(at) << 64n) | view.getBigUint64(at + 8);
  return { id, node: view.getUint16(at + 4), time: Number(id & 0xffff_ffff_ffffn) };
}

/** All ids of all processes. */
export function* allIds(ledgers: readonly Ledger[]): Iterable<Read> {
  for (const { runs } of ledgers) for (const run of runs) yield* run;
}

/** Ids that were handed out twice, exactly. A flake has 64 bits and a locality UUID 128, so that they never meet. */
export function duplicates(ledgers: readonly Ledger[]): string[] {
  const seen = new Set<bigint>();
  const again: string[] = [];
  for (const { id } of allIds(ledgers)) {
    if (seen.has(id)) again.push(`${id} was handed out twice`);
    seen.add(id);
  }
  return again;
}

/** Moments of a node id that two processes have used: their windows overlapped, by chance without a duplicate. */
export function sharedMoments(ledgers: readonly Ledger[]): string[] {
  const users = new Map<string, string>();
  const shared = new Set<string>();
  for (const ledger of ledgers) {
    for (const { node, time } of allIds([ledger])) {
      const moment = `${node}@${time}`;
      const other = users.get(moment) ?? ledger.name;
      if (other !== ledger.name)
        shared.add(`${other} and ${ledger.name} both used node ${node} at ${new Date(time).toISOString()}`);
      users.set(moment, ledger.name);
    }
  }
  return [...shared];
}

/** Flakes that are not above the one before them from the same generator. Locality UUIDs are in no order. */
export function disorder(ledgers: readonly Ledger[]): string[] {
  return ledgers
    .filter(({ family }) => family === 'flake')
    .flatMap(({ name, runs }) =>
      runs.flatMap((run) => disorderIn(run).map((problem) => `${name}: ${problem}`)),
    );
}

function disorderIn(run: readonly Read[]): string[] {
  const found: string[] = [];
  for (let i = 1; i < run.length; i++) {
    const [before, after] = [run[i - 1]!.id, run[i]!.id];
    if (after <= before) found.push(`${after} came after ${before}`);
  }
  return found;
}

/** Ids with a time that is more than a minute from when the run was. */
export function wrongTimes(ledgers: readonly Ledger[], from: number, to: number): string[] {
  const found: string[] = [];
  for (const { id, time } of allIds(ledgers))
    if (time < from - 60_000 || time > to + 60_000) found.push(`${id} says ${new Date(time).toISOString()}`);
  return found;
}

/** The first few of many, and how many there are. */
export function abridged(problems: readonly string[]): string[] {
  const more = problems.length - SHOWN;
  return more > 0 ? [...problems.slice(0, SHOWN), `… and ${more} more of these`] : [...problems];
}
