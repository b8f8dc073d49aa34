import { env } from 'node:process';
import { describe, expect, it } from 'vitest';
import { explore, follow } from './model/explore.ts';
import { RULES, type Rules } from './model/rules.ts';
import { HARMLESS, SABOTAGES } from './model/sabotage.ts';
import { initialState, type World } from './model/state.ts';
import {
  CLOCKLESS,
  COPIED,
  COPY,
  DATED_TWICE,
  DURABLE,
  FORGETFUL,
  HELD,
  LIMITS,
  LOCALITY,
  LONG_LOST,
  LOST,
  NEW,
  type Story,
  TAKEN_OVER,
} from './model/worlds.ts';

/** How many steps further than the depths below to look: one less in every run, `MODEL_DEEPER=2 npx vitest run …/model.test.ts`. */
const deeper = Number(env.MODEL_DEEPER ?? -1);
const timeout = deeper > 0 ? 3_600_000 : 300_000;

const SEARCHES: [name: string, world: World, story: Story, depth: number][] = [
  ['a durable store, from nothing', DURABLE, NEW, 11],
  ['a durable store, after a takeover', DURABLE, TAKEN_OVER, 7],
  ['a durable store and locality UUIDs, from nothing', LOCALITY, NEW, 10],
  ['a durable store and locality UUIDs, after a takeover', LOCALITY, TAKEN_OVER, 7],
  ['a store without a clock, from nothing', CLOCKLESS, NEW, 9],
  ['a forgetful store, from nothing', FORGETFUL, NEW, 12],
  ['a forgetful store, with a holder', FORGETFUL, HELD, 8],
  ['a forgetful store that has just lost everything', FORGETFUL, LOST, 8],
  ['a forgetful store whose namespace is dated twice', FORGETFUL, DATED_TWICE, 7],
  ['a process that is copied', { ...COPIED, faults: 2 }, COPY, 10],
  ['a process that is copied, among others', { ...COPIED, processes: 3, nodes: 2, faults: 2 }, NEW, 10],
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

describe('a forgetful store', () => {
  const world = { ...FORGETFUL, processes: 2, nodes: 1, mints: false, renews: false, releases: false };
  const search = (rules: Partial<Rules>) => {
    const all = { ...RULES, ...rules };
    return explore(follow(initialState(world), world, all, DATED_TWICE), world, all, 13).trace;
  };

  it('is misled by a date from before its loss when namespaces are founded under one name again', () => {
    expect(search({ namesBirthsAnew: false })).toBeDefined();
  });

  it('is not when each has a name of its own', () => {
    expect(search({})).toBeUndefined();
  });

  it('is not misled either way if it takes no date that comes too late', () => {
    expect(search({ namesBirthsAnew: false, refusesLateBirth: true })).toBeUndefined();
  });
});
