import type { SeededRandom } from '../../../idsmith/test/simulation/random.ts';
import { FAIR, makeWeather, type Weather } from '../../../idsmith/test/simulation/wire.ts';

/**
 * What may go wrong in a world. Nobody can protect against all of it at once: docs/keys-operating.md names the cases.
 *
 * - `losing`: one node loses its sequence, all may restart, any message may be lost; clocks differ by less than `maxSkew`
 * - `outdated`: any node loses its sequence, and processes with an old config may begin there; every message arrives in time
 * - `disjoint`: the sets have no node in common; the nodes of the first set lose their sequences, any message may be lost. A set that
 *   took over and gave minting away does not come back as it was while it minted. Processes of the second set come before minting was
 *   handed over to it if they are told to wait for that (`takesOver`), and otherwise as soon as a handover has begun
 * - `stepping`: clocks are set anywhere, any message may be lost; no node loses its sequence
 */
type Regime = 'losing' | 'outdated' | 'disjoint' | 'stepping';

/** Everything about a run that is settled before it starts. */
export interface Plan {
  readonly regime: Regime;
  /** The servers of each node set, by their numbers and in their order. */
  readonly sets: readonly [readonly number[], readonly number[]];
  readonly servers: number;
  /** The servers that may lose their sequences. */
  readonly lossy: readonly number[];
  /** Whether the second set mints only after a handover to it. */
  readonly takesOver: boolean;
  /** Whether a server that only the first set has goes away for good. */
  readonly hasGone: boolean;
  readonly maxSkew: number;
  readonly weather: Weather;
  /** The time after which a process gives up a request, ms. The request may still arrive. */
  readonly timeout: number;
  readonly processes: number;
  /** How long faults happen, ms. */
  readonly duration: number;
}

export function makePlan(random: SeededRandom): Plan {
  const regime = random.pick<Regime>(['losing', 'outdated', 'disjoint', 'stepping']);
  const timeout = random.between(50, 400);
  const sets = regime === 'disjoint' ? makeDisjoint(random) : makeSets(random, regime);
  const shared = sets[0].filter((server) => sets[1].includes(server));
  const own = sets[0].filter((server) => !shared.includes(server));
  const servers = Math.max(...sets.flat()) + 1;
  const weather = makeWeather(random, Math.floor(timeout / 5), random.between(1, 8) * timeout);
  return {
    regime,
    sets,
    timeout,
    servers,
    lossy:
      regime === 'outdated'
        ? Array.from({ length: servers }, (_, i) => i)
        : regime === 'disjoint'
          ? sets[0]
          : // If all nodes that the sets share were lost, both could begin.
            [random.pick(shared.length > 1 ? sets[0] : own)],
    takesOver: regime === 'disjoint' && random.chance(0.5),
    hasGone: regime === 'losing' && own.length > 0 && random.chance(0.2),
    maxSkew: random.between(20, 400),
    weather: regime === 'outdated' ? { ...weather, ...FAIR } : weather,
    processes: random.between(2, 4),
    duration: random.between(4000, 12_000),
  };
}

function makeDisjoint(random: SeededRandom): [number[], number[]] {
  return random.pick([
    [[0], [1]],
    [[0], [1, 2]],
    [
      [0, 1],
      [2, 3],
    ],
  ]);
}

/** Two node sets that have at least one server in common, and are not the same. */
function makeSets(random: SeededRandom, regime: Regime): [number[], number[]] {
  const first = Array.from({ length: random.between(regime === 'losing' ? 2 : 1, 3) }, (_, i) => i);
  const kept = regime === 'losing' ? random.between(1, first.length - 1) : random.between(1, first.length);
  const added = random.between(kept === first.length ? 1 : 0, 2);
  const second = [...first.slice(0, kept), ...Array.from({ length: added }, (_, i) => first.length + i)];
  return random.chance(0.5) ? [first, second] : [first, second.reverse()];
}
