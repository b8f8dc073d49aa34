import { describe, expect, it } from 'vitest';
import { explore, follow } from './model/explore.ts';
import { RULES, type Rules } from './model/rules.ts';
import { initialState } from './model/state.ts';
import { DATED_TWICE, VOLATILE } from './model/worlds.ts';

describe('a volatile store', () => {
  const world = { ...VOLATILE, processes: 2, nodes: 1, mints: false, renews: false, releases: false };
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
