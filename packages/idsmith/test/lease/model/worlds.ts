import type { World } from './state.ts';

/** Three processes, two node ids, a store that keeps everything and has a clock. The longest ttl is the worst case. */
export const DURABLE: World = {
  processes: 3,
  nodes: 2,
  durable: true,
  storeClock: true,
  ttl: 2,
  maxTtl: 2,
  maxSkew: 1,
  clockError: 1,
  end: 16,
  followsClock: false,
  mints: true,
  renews: true,
  releases: true,
  faults: 2,
};

/** Everybody goes by their own clock. */
export const CLOCKLESS: World = { ...DURABLE, storeClock: false };

/** The store may lose everything at any moment. */
export const VOLATILE: World = { ...DURABLE, durable: false, faults: 3 };

/** A holder may be copied, as VM snapshots do. */
export const COPIED: World = { ...DURABLE, processes: 2, nodes: 1, faults: 1, copies: true };

/** The store may lose everything, and its clients differ in the longest ttl: the first holds longer than the other waits. */
export const LIMITS: World = { ...VOLATILE, processes: 2, nodes: 1, limits: [4, 1], maxTtl: 4, faults: 1 };

/** The store may go back once to an earlier state, and then tells another lineage. */
export const REWINDING: World = { ...DURABLE, processes: 2, nodes: 1, rewinds: true, faults: 1 };

/** The first process has a longer ttl than the other one knows of. The store goes back by two units of time at most. */
export const NOTES: World = {
  ...REWINDING,
  limits: [4, 1],
  notes: { usual: 1, covered: 2 },
  maxSkew: 0,
  clockError: 0,
  ttl: 1,
  faults: 0,
};

/** Holders mint locality UUIDs. */
export const LOCALITY: World = { ...DURABLE, followsClock: true };

// Beginnings, as what happens in them. Searching from them finds what would take too many steps from nothing.

export type Story = readonly string[];

const acquires = (p: string) => [`${p} lists`, `${p} claims`, `${p} has`, `${p} hears yes`];
const verifies = (p: string) => [`${p} finds the namespace the same`];
const founds = (p: string) => [`${p} lists`, `${p} finds no`, `${p} has`, `${p} hears`];
const dates = (p: string) => [`${p} lists`, `${p} dates`, `${p} has`, `${p} hears`];

/** Nothing has happened yet. */
export const NEW: Story = [];

/** A lease has run out, though its holder does not know, and another process has the node id. */
export const TAKEN_OVER: Story = [...acquires('P0'), '2 passes', ...acquires('P1')];

/** A volatile store has a namespace from which ids can be claimed by now. */
export const FOUNDED: Story = [...founds('P0'), ...dates('P0'), '2 passes', '1 passes'];

/** One process has a node id there. */
export const HELD: Story = [...FOUNDED, ...acquires('P0'), ...verifies('P0')];

/** A store that tells its lineage has a namespace. */
export const TOLD: Story = ['P0 lists', 'P0 founds', 'P0 has', 'P0 hears'];

/** One process has a node id there. */
export const KEPT: Story = [...TOLD, ...acquires('P0')];

/** The store goes back to the time before that process had it. */
export const UNKNOWN: Story = [...TOLD, 'the replica falls behind', ...acquires('P0'), 'the store goes back'];

const notes = (p: string) => [`${p} lists`, `${p} founds`, `${p} has`, `${p} hears`];

/** A replica has the namespace without the note of a longer ttl, and nothing later. The process with that ttl has a node id. */
const NOTED_LATER: Story = [...notes('P1'), 'the replica falls behind', ...notes('P0'), ...acquires('P0')];

/** A process notes its longer ttl and takes a node id, and the store goes back to the time before that. */
export const NOTE_LOST: Story = [...NOTED_LATER, 'the store goes back'];

/** A process has noted its longer ttl, and has a node id. */
export const NOTED: Story = [...TOLD, ...acquires('P0')];

/** A replica has the namespace without the note, and nothing later. The holder has renewed once. */
export const NOTE_BEHIND: Story = [...NOTED_LATER, '1 passes', 'P0 renews', 'P0 has', 'P0 hears yes'];

/** A replica has that holder's record and nothing later. The lease has run out, and another process has the node id. */
export const BEHIND: Story = [...KEPT, 'the replica falls behind', '2 passes', ...acquires('P1')];

/** A holder has been copied. */
export const COPY: Story = [...acquires('P0'), 'P0 is copied to P1'];

/** A process with a long ttl holds a node id, one with a shorter limit has seen the namespace, and the store loses it. */
export const LONG_LOST: Story = [
  ...founds('P0'),
  ...dates('P0'),
  '2 passes',
  '2 passes',
  '1 passes',
  ...acquires('P0'),
  ...verifies('P0'),
  'P1 lists',
  'the store loses',
  'P1 finds none',
  ...founds('P1'),
];

/** Then the store has lost everything, and another process has founded the namespace anew. */
export const LOST: Story = [...HELD, 'the store loses', ...founds('P1'), ...dates('P1'), '2 passes'];

/** A process asks that the namespace be dated, but its request is slow; another does so too, and takes a node id. */
export const DATED_TWICE: Story = [
  ...founds('P0'),
  'P0 lists',
  'P0 dates',
  ...dates('P1'),
  '2 passes',
  '1 passes',
  ...acquires('P1'),
  ...verifies('P1'),
];
