import { describe, expect, it } from 'vitest';
import { depth } from '../../../../test/depth.ts';
import { explore, follow } from './model/explore.ts';
import { RULES } from './model/rules.ts';
import { HARMLESS, SABOTAGES } from './model/sabotage.ts';
import { initialState, type World } from './model/state.ts';
import {
  BEHIND,
  CLOCKLESS,
  COPIED,
  COPY,
  DATED_TWICE,
  DURABLE,
  HELD,
  KEPT,
  LIMITS,
  LOCALITY,
  LONG_LOST,
  LOST,
  NEW,
  NOTE_BEHIND,
  NOTE_LOST,
  NOTED,
  NOTES,
  REWINDING,
  type Story,
  TAKEN_OVER,
  UNKNOWN,
  VOLATILE,
} from './model/worlds.ts';

/** How many steps further than the depths below to look: `TEST_DEPTH=4 npx vitest run …/model.test.ts` looks two steps further. */
const deeper = depth - 2;
const timeout = deeper > 0 ? 3_600_000 : 300_000;

const SEARCHES: [name: string, world: World, story: Story, depth: number][] = [
  ['a durable store, from nothing', DURABLE, NEW, 11],
  ['a durable store, after a takeover', DURABLE, TAKEN_OVER, 7],
  ['a durable store and locality UUIDs, from nothing', LOCALITY, NEW, 10],
  ['a durable store and locality UUIDs, after a takeover', LOCALITY, TAKEN_OVER, 7],
  ['a store without a clock, from nothing', CLOCKLESS, NEW, 9],
  ['a volatile store, from nothing', VOLATILE, NEW, 12],
  ['a volatile store, with a holder', VOLATILE, HELD, 8],
  ['a volatile store that has just lost everything', VOLATILE, LOST, 8],
  ['a volatile store whose namespace is dated twice', VOLATILE, DATED_TWICE, 7],
  ['a process that is copied', { ...COPIED, faults: 2 }, COPY, 10],
  ['a process that is copied, among others', { ...COPIED, processes: 3, nodes: 2, faults: 2 }, NEW, 10],
  ['a store that goes back, from nothing', REWINDING, NEW, 12],
  ['a store that goes back, with a holder', REWINDING, KEPT, 9],
  ['a store that has gone back, with a holder that it does not know', REWINDING, UNKNOWN, 10],
  ['a store that goes back, after a takeover that its replica does not know', REWINDING, BEHIND, 8],
  [
    'a store that goes back, with more processes and node ids',
    { ...REWINDING, processes: 3, nodes: 2 },
    KEPT,
    8,
  ],
  ['a store that has lost the note of a longer ttl', NOTES, NOTE_LOST, 10],
  ['a store that may lose the note of a longer ttl', NOTES, NOTE_BEHIND, 12],
  ['a store that goes back, with a holder of a longer ttl', NOTES, NOTED, 14],
  ['clients with different limits, one of them with a long lease', LIMITS, LONG_LOST, 11],
];

describe('the lease protocol, in every state of a small world', () => {
  it.each(SEARCHES)(
    'never lets two holders use one timestamp: %s',
    { timeout },
    (name, world, story, depth) => {
      const start = follow(initialState(world), world, RULES, story);
      const { states, trace } = explore(start, world, RULES, depth + deeper);
      console.info(
        `${name}: ${world.processes} processes, ${world.nodes} node ids, ${story.length} + ${depth + deeper} steps, ` +
          `up to ${world.faults} faults: ${states.toLocaleString('en')} states`,
      );
      expect(trace).toBeUndefined();
    },
  );
});

describe('the lease protocol, weakened', () => {
  it.each(SABOTAGES)(
    'lets two holders use one timestamp when $name',
    ({ name, rules, world, story = NEW }) => {
      const weakened = { ...RULES, ...rules };
      const start = follow(initialState(world), world, weakened, story);
      const { states, trace } = explore(start, world, weakened, 16);
      expect(trace).toBeDefined();
      console.info(`${name}: found among ${states} states\n  ${[...story, ...(trace ?? [])].join('\n  ')}`);
    },
  );

  it.each(HARMLESS)('stays safe when $name', ({ rules, world }) => {
    const start = initialState(world);
    expect(explore(start, world, { ...RULES, ...rules }, 9).trace).toBeUndefined();
  });
});
