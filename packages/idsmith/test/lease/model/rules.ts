import { type LeaseRecord, sameRecord } from '../../../src/lease/port.ts';
import * as protocol from '../../../src/lease/protocol.ts';
import { grantedTtl } from '../../../src/lineage/granted-ttl.ts';
import { judgeNamespace } from '../../../src/lineage/judge.ts';
import type { World } from './state.ts';

/** Milliseconds in one unit of the model's time. */
const UNIT = 1000;

/** The protocol's functions, and what else the library and its stores hold to. Sabotage replaces one of them. */
export const RULES = {
  candidates: candidatesIn(UNIT),
  isReady: isReadyIn(UNIT),
  windowStart: protocol.windowStart,
  claimed: protocol.claimed,
  renewed: protocol.renewed,
  released: protocol.released,
  verdict: protocol.verdict,
  undatedBirth: protocol.undatedBirth,
  datedBirth: protocol.datedBirth,
  foundedBirth: protocol.foundedBirth,
  judgeNamespace,
  grantedTtl: (ttl: number, noted: number, { notes, maxSkew }: World) =>
    notes ? grantedTtl(ttl, notes.usual, noted, maxSkew, notes.covered) : ttl,
  /** The lineage that a store tells when it has gone back so often. */
  toldLineage: (lineage: number) => lineage,
  /** A store that tells its lineage claims node ids and founds namespaces only while it has the lineage of the namespace's record. */
  comparesLineage: true,
  /**
   * True if another may have got the node id by the time when a renewal is answered: only what was lost by a store that has gone back
   * since could tell. The renewal counts then only in the lineage in which the holder's record is known to be whole.
   */
  isLate: ({ expiresAt }: LeaseRecord, now: number) => now >= expiresAt,
  /** Whether a renewal is late is asked when its answer has come, not when it is sent. */
  waitsForAnswer: true,
  /** By what a store recognises the record to be replaced. */
  sameRecord,
  /** On a volatile store nothing is claimed before the namespace has a record of its own. */
  needsBirth: true,
  /** Each record of a namespace has an owner's name of its own, so that a date meant for another does not fit it. */
  namesBirthsAnew: true,
  /** A volatile store may go further: take no such record unless its fence lies `maxTtl` ahead of the store's clock. */
  refusesLateBirth: false,
  /** On a volatile store a claim counts only if the namespace is still the one that was listed. */
  verifiesClaims: true,
  /** A longer window is used only when the store has said yes. */
  awaitsRenewal: true,
  /** Each attempt to renew has a name of its own. */
  namesAttempts: true,
  /** A holder that finds its record changed by nobody it can be stops at once. */
  stopsWhenBroken: true,
  /** A process that has seen a namespace keeps to its longest ttl when it founds the namespace again. */
  keepsLimits: true,
  /** When a renewal was refused, the record is looked at before its window is used. */
  looksAfterRefusal: true,
  /** Minting ends before the last timestamp used is told to the store. */
  closesFirst: true,
  /** A release tells the highest timestamp used, though the clock has gone back since. */
  tellsHighest: true,
  /** A lost lease is replaced with its window's start, not only its node id and end. */
  takesNewStart: true,
  /** No timestamp from `until` on goes into an id. */
  stopsAtUntil: true,
};

export type Rules = typeof RULES;

// What the protocol knows in milliseconds is asked in these.

function candidatesIn(unit: number): typeof protocol.candidates {
  return (records, size, now) => {
    const scaled = records.map((record) => ({
      ...record,
      fence: record.fence * unit,
      expiresAt: record.expiresAt * unit,
    }));
    const original = (id: number): LeaseRecord | undefined => records.find((record) => record.id === id);
    return protocol
      .candidates(scaled, size, now * unit)
      .map(({ id, readyAt }) => ({ id, record: original(id), readyAt: readyAt / unit }));
  };
}

function isReadyIn(unit: number): typeof protocol.isReady {
  return (candidate, now) =>
    protocol.isReady({ ...candidate, readyAt: candidate.readyAt * unit }, now * unit);
}
