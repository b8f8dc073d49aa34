import { encode } from './encode.ts';
import type { Rules } from './rules.ts';
import { type State, type Usable, usable, type World } from './state.ts';
import { steps } from './steps.ts';

/** What a search has found. */
export interface Findings {
  /** Distinct states, those at the last depth included. */
  readonly states: number;
  /** The shortest way to two holders of one timestamp, if there is any. */
  readonly trace?: readonly string[];
}

/** Looks at every state within `depth` steps of the start, nearest first, until one breaks the invariant. */
export function explore(start: State, world: World, rules: Rules, depth: number): Findings {
  const seen = new Set([encode(start)]);
  /** How each state was first reached: from which one, and by which of its steps. */
  const parents = [-1];
  const choices = [0];
  let level: [index: number, state: State][] = [[0, start]];
  for (let done = 0; done < depth && level.length > 0; done++) {
    const next: typeof level = [];
    for (const [parent, state] of level) {
      for (const [choice, [, after]] of steps(state, world, rules).entries()) {
        const key = encode(after);
        if (seen.has(key)) continue;
        seen.add(key);
        const index = parents.push(parent) - 1;
        choices.push(choice);
        if (isBroken(after)) {
          return { states: seen.size, trace: retrace(index) };
        }
        // States of the last depth are looked at, and not gone on from.
        if (done + 1 < depth) next.push([index, after]);
      }
    }
    level = next;
  }
  return { states: seen.size };

  function retrace(end: number): string[] {
    const path: number[] = [];
    for (let i = end; i > 0; i = parents[i]!) path.unshift(choices[i]!);
    let state = start;
    return path.map((choice) => {
      const [what, next] = steps(state, world, rules)[choice]!;
      state = next;
      return what;
    });
  }
}

/** The state after these steps; each is named by the words that it begins with. */
export function follow(start: State, world: World, rules: Rules, story: readonly string[]): State {
  return story.reduce((state, words) => {
    const step = steps(state, world, rules).find(([what]) => what.startsWith(words));
    if (!step) throw new Error(`nothing begins with "${words}" here`);
    return step[1];
  }, start);
}

/**
 * Whether two could put the same timestamp with the same node id into ids: the windows of two holders overlap, or one
 * reaches over a timestamp that was used by another.
 */
function isBroken({ processes, used }: State): boolean {
  for (let i = 0; i < processes.length; i++) {
    const a = usable(processes[i]!);
    if (a.node < 0 || a.from >= a.until) continue;
    // What it has used itself, its counter keeps apart.
    const others = used[a.node]! & ~processes[i]!.stamped;
    for (let stamp = a.from; stamp < a.until; stamp++) if (others & (1 << stamp)) return true;
    for (let j = i + 1; j < processes.length; j++) if (overlaps(a, usable(processes[j]!))) return true;
  }
  return false;
}

function overlaps(a: Usable, b: Usable): boolean {
  return a.node === b.node && b.from < b.until && a.from < b.until && b.from < a.until;
}
