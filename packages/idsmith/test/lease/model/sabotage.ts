import { sameRecord } from '../../../src/lease/port.ts';
import { claimed, datedBirth, released, renewed, windowStart } from '../../../src/lease/protocol.ts';
import { judgeNamespace } from '../../../src/lineage/judge.ts';
import { RULES, type Rules } from './rules.ts';
import type { World } from './state.ts';
import {
  BEHIND,
  CLOCKLESS,
  COPIED,
  COPY,
  DURABLE,
  FOUNDED,
  HELD,
  KEPT,
  LIMITS,
  LOCALITY,
  LONG_LOST,
  LOST,
  NOTE_BEHIND,
  NOTE_LOST,
  NOTES,
  REWINDING,
  type Story,
  TAKEN_OVER,
  TOLD,
  UNKNOWN,
  VOLATILE,
} from './worlds.ts';

/** The protocol with one thing wrong, and a world small enough that the harm is soon found. */
export interface Sabotage {
  readonly name: string;
  readonly rules: Partial<Rules>;
  readonly world: World;
  readonly story?: Story;
}

const ONE_NODE = { nodes: 1, processes: 2 };
const QUIET = { renews: false, releases: false, faults: 0 };

/** Each of these must lead to two holders of one timestamp. */
export const SABOTAGES: readonly Sabotage[] = [
  {
    name: 'the fence of a released node id counts for nothing',
    rules: {
      candidates: (...args) =>
        RULES.candidates(...args).map((each) =>
          each.record?.owner === null ? { ...each, readyAt: 0 } : each,
        ),
    },
    world: { ...DURABLE, ...ONE_NODE, ...QUIET, releases: true },
  },
  {
    name: 'the fence of an expired lease counts for nothing',
    rules: {
      candidates: (...args) =>
        RULES.candidates(...args).map((each) => (each.record?.owner ? { ...each, readyAt: 0 } : each)),
    },
    world: { ...DURABLE, ...ONE_NODE, ...QUIET },
  },
  {
    name: 'a window begins as far back as clocks may be behind, fence or no fence',
    rules: { windowStart: (_, now, maxSkew) => now - maxSkew },
    world: { ...DURABLE, ...ONE_NODE, ...QUIET },
  },
  {
    name: 'a claim replaces whatever is there',
    rules: { sameRecord: () => true },
    world: { ...DURABLE, ...ONE_NODE, ...QUIET },
  },
  {
    name: 'a swap compares neither owner nor epoch',
    rules: {
      sameRecord: (a, b) =>
        sameRecord(a && { ...a, owner: null, epoch: 0 }, b && { ...b, owner: null, epoch: 0 }),
    },
    world: { ...DURABLE, ...ONE_NODE, renews: false, mints: false, faults: 1, end: 1 },
  },
  {
    name: 'a longer window is used before the store has said yes',
    rules: { awaitsRenewal: false },
    world: { ...DURABLE, ...ONE_NODE, releases: false, faults: 0 },
  },
  {
    name: 'a renewal that was refused counts all the same',
    rules: { looksAfterRefusal: false },
    world: { ...DURABLE, ...ONE_NODE, releases: false, faults: 0 },
  },
  {
    name: 'whoever has the node id now, its record is taken for the own',
    rules: { verdict: () => 'mine' },
    world: { ...DURABLE, ...ONE_NODE, releases: false, faults: 0 },
  },
  {
    name: 'on a volatile store a record is known as the own by its epoch alone',
    rules: { verdict: (record, mine) => (record?.epoch === mine.epoch ? 'mine' : 'taken') },
    world: { ...VOLATILE, ...ONE_NODE, releases: false, mints: false, faults: 1 },
    story: LOST,
  },
  {
    name: 'a renewal may make a window shorter',
    rules: {
      renewed: (record, now, ttl, owner) => ({
        ...renewed(record, now, ttl, owner),
        fence: now + ttl,
        expiresAt: now + ttl,
      }),
    },
    world: { ...CLOCKLESS, ...ONE_NODE, releases: false, faults: 0 },
  },
  {
    name: 'a holder takes whatever has its epoch for its own renewal, be it that of a copy',
    rules: { verdict: (record, mine) => (record?.epoch === mine.epoch ? 'mine' : 'taken') },
    world: COPIED,
    story: COPY,
  },
  {
    name: 'attempts to renew have the name of their holder, which its copies have too',
    rules: {
      namesAttempts: false,
      verdict: (record, mine) =>
        record?.owner === mine.owner && record?.epoch === mine.epoch ? 'mine' : 'taken',
    },
    world: COPIED,
    story: COPY,
  },
  {
    name: 'a client goes by its own limit, not by that of the namespace',
    rules: { keepsLimits: false },
    world: { ...LIMITS, renews: false, releases: false, mints: false },
    story: LONG_LOST,
  },
  {
    name: 'a release leaves its fence where the window began',
    rules: { released: (record, from) => released(record, from, -1) },
    world: { ...DURABLE, ...ONE_NODE, ...QUIET, releases: true },
  },
  {
    name: 'a release leaves its fence below where the window began',
    rules: { released: (record, _, lastUsed) => released(record, 0, lastUsed) },
    world: { ...DURABLE, ...ONE_NODE, ...QUIET, releases: true },
  },
  {
    name: 'a release goes to the store before minting has ended',
    rules: { closesFirst: false },
    world: { ...DURABLE, ...ONE_NODE, ...QUIET, releases: true },
  },
  {
    name: "a replaced lease goes on from the lost one's start",
    rules: { takesNewStart: false },
    world: { ...DURABLE, ...ONE_NODE, mints: false, faults: 0 },
    story: TAKEN_OVER,
  },
  {
    name: "with locality UUIDs, a replaced lease goes on from the lost one's start",
    rules: { takesNewStart: false },
    world: { ...LOCALITY, ...ONE_NODE, faults: 0 },
    story: TAKEN_OVER,
  },
  {
    name: 'with locality UUIDs, a release tells the last timestamp used though a higher one was',
    rules: { tellsHighest: false },
    world: { ...LOCALITY, ...ONE_NODE, ...QUIET, releases: true },
  },
  {
    name: 'with locality UUIDs, a holder does not stop at the end of its window',
    rules: { stopsAtUntil: false },
    world: { ...LOCALITY, ...ONE_NODE, ...QUIET },
  },
  {
    name: 'a claim lowers a fence that lies further ahead than its own window',
    rules: {
      isReady: () => true,
      claimed: (candidate, now, claim) => claimed({ ...candidate, readyAt: 0 }, now, claim),
    },
    world: { ...CLOCKLESS, nodes: 1, renews: false, faults: 0, end: 2 },
  },
  {
    name: 'a holder does not stop at the end of its window',
    rules: { stopsAtUntil: false },
    world: { ...DURABLE, ...ONE_NODE, ...QUIET },
  },
  {
    name: 'a volatile store gets no record of the namespace',
    rules: { needsBirth: false },
    world: { ...VOLATILE, ...ONE_NODE, ...QUIET, faults: 1 },
  },
  {
    name: 'a namespace that may have been lost is used at once',
    rules: {
      datedBirth: (birth, now, maxTtl) => ({ ...datedBirth(birth, now, 0, 0), epoch: maxTtl }),
    },
    world: { ...VOLATILE, ...ONE_NODE, ...QUIET, mints: false, faults: 1 },
    story: HELD,
  },
  {
    name: 'a claim on a volatile store is not verified',
    rules: { verifiesClaims: false },
    world: { ...VOLATILE, ...ONE_NODE, ...QUIET, mints: false, faults: 1 },
    story: FOUNDED,
  },
  {
    name: 'a store that goes back tells the same lineage',
    rules: { toldLineage: () => 0 },
    world: { ...REWINDING, ...QUIET, mints: false },
    story: UNKNOWN,
  },
  {
    name: 'a newcomer does not wait after the store has gone back',
    rules: {
      judgeNamespace: (recorded, moment, ...rest) => {
        const verdict = judgeNamespace(recorded, moment, ...rest);
        return verdict.kind === 'wait-until' ? { ...verdict, time: moment.now } : verdict;
      },
    },
    world: { ...REWINDING, ...QUIET, mints: false },
    story: UNKNOWN,
  },
  {
    name: 'a newcomer waits less long than a window that is forgotten may last',
    rules: {
      judgeNamespace: (recorded, moment, longest) => judgeNamespace(recorded, moment, longest - 2, 0),
    },
    world: { ...REWINDING, ...QUIET, mints: false },
    story: UNKNOWN,
  },
  {
    name: 'a ttl counts that others may not know of',
    rules: { grantedTtl: (ttl) => ttl },
    world: { ...NOTES, ...QUIET, mints: false },
    story: NOTE_LOST,
  },
  {
    name: 'a ttl counts from the second renewal on, while its note may still be lost',
    rules: {
      grantedTtl: (ttl, noted, world) =>
        RULES.grantedTtl(ttl, noted, { ...world, notes: { usual: 1, covered: 1 } }),
    },
    world: { ...NOTES, releases: false, mints: false },
    story: NOTE_BEHIND,
  },
  {
    name: 'a claim does not compare the lineage of the store',
    rules: { comparesLineage: false },
    world: { ...REWINDING, ...QUIET, mints: false },
    story: TOLD,
  },
  {
    name: 'a holder goes on after its lease has run out, though the store may have lost who came next',
    rules: { isLate: () => false },
    world: { ...REWINDING, releases: false, mints: false, faults: 0 },
    story: BEHIND,
  },
  {
    name: 'a renewal counts that was in time when it was sent, and carried out after the lease had run out',
    rules: { waitsForAnswer: false },
    world: { ...REWINDING, releases: false, mints: false, faults: 0 },
    story: KEPT,
  },
];

/** Changes that do no harm, for another rule already prevents it. */
export const HARMLESS: readonly Sabotage[] = [
  {
    name: 'a node id is claimed however far ahead its fence lies: the window begins there all the same',
    rules: { isReady: () => true },
    world: { ...CLOCKLESS, nodes: 1, renews: false, faults: 0, end: 2 },
  },
  {
    name: 'a window begins now',
    rules: { windowStart: (candidate, now) => Math.max(windowStart(candidate, now, 0), now) },
    world: { ...DURABLE, ...ONE_NODE },
  },
  {
    name: 'a swap does not compare the epoch: no two owners are called the same',
    rules: { sameRecord: (a, b) => sameRecord(a && { ...a, epoch: 0 }, b && { ...b, epoch: 0 }) },
    world: { ...DURABLE, ...ONE_NODE },
  },
  {
    name: 'a swap does not compare the owner: each has an epoch of its own',
    rules: { sameRecord: (a, b) => sameRecord(a && { ...a, owner: null }, b && { ...b, owner: null }) },
    world: { ...DURABLE, ...ONE_NODE },
  },
  {
    name: 'an id counts as held for less long than it is: its fence still lies ahead',
    rules: {
      candidates: (records, size, now) => RULES.candidates(records, size, now + 1),
    },
    world: { ...DURABLE, ...ONE_NODE },
  },
  {
    name: 'a swap compares neither fence nor expiry: each attempt has a name of its own',
    rules: {
      sameRecord: (a, b) =>
        sameRecord(a && { ...a, fence: 0, expiresAt: 0 }, b && { ...b, fence: 0, expiresAt: 0 }),
    },
    world: { ...DURABLE, ...ONE_NODE, releases: false },
  },
  {
    name: 'a copy that finds itself beaten uses its window to the end, which both had in hand',
    rules: { stopsWhenBroken: false },
    world: COPIED,
  },
];
