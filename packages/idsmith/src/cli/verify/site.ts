import { setTimeout as sleep } from 'node:timers/promises';
import { NoSuchSequenceError, SequenceExistsError } from '../../errors.js';
import { TRIAL } from '../../lease/namespace.js';
import type { Store } from '../../stores/store.js';
import { wrapStore } from './wrap-store.js';

// A run leaves nothing behind, also when it is killed. Nobody can list the namespaces of a store, but everybody can list its
// sequences. So each namespace has a sequence that stands for it, which is made before the namespace and removed after it. Names
// begin with `idsmith-verify/` and the time at which the run is over in any case. A later run removes what is over.

/** A run that is not over at the planned time, ms, is dead. */
const GRACE = 3_600_000;

const MARK = 'namespace/';

/** The names of one run in a store, and their removal. */
export class Site {
  /** The beginning of all names of the run. */
  readonly base: string;
  readonly #store: Store;
  readonly #noted = new Map<string, Promise<void>>();

  /** @param ms the planned length of the run */
  constructor(store: Store, ms: number, random = Math.random) {
    this.#store = store;
    const isOverAt = Date.now() + ms + GRACE;
    this.base = `${TRIAL}${isOverAt.toString(36)}-${Math.floor(random() * 36 ** 6).toString(36)}/`;
  }

  /** The store, which notes each namespace before the first record is written there. */
  get noting(): Store {
    return wrapStore(this.#store, async (name, [namespace], call) => {
      if (name === 'swapLease' || name === 'claimLease') await this.note(namespace as string);
      return call();
    });
  }

  /** Notes a namespace, so that it is found and removed whatever happens. */
  note(namespace: string): Promise<void> {
    const noting = this.#noted.get(namespace) ?? this.#define(markOf(this.base, namespace));
    this.#noted.set(namespace, noting);
    return noting;
  }

  /** Removes everything of the run. Gives the names that are still there. A failure must not hide what the run has found. */
  async remove(): Promise<string[]> {
    try {
      return await removeRun(this.#store, this.base, [...this.#noted.keys()]);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [`${this.base} (${why}): idsmith verify --clean removes it`];
    }
  }

  async #define(name: string): Promise<void> {
    try {
      await this.#store.defineSequence({ name, blockSize: 1 });
    } catch (error) {
      // A request that was sent again after a lost answer finds its own sequence.
      if (!(error instanceof SequenceExistsError)) throw error;
    }
  }
}

/** Removes what earlier runs have left, because they were killed. Names those that may be going on. */
export async function removeOldRuns(store: Store): Promise<string[]> {
  const { over, active } = await findRuns(store, Date.now());
  for (const base of over) await removeRun(store, base);
  return [
    ...over.map((base) => `removed ${base}, which an earlier run had left`),
    ...active.map(
      (base) => `${base} is of a run that is going on, or was killed: idsmith verify --clean removes it`,
    ),
  ];
}

/** The runs whose names are in a store: those that are over, and those that may be going on. */
export async function findRuns(store: Store, now: number): Promise<{ over: string[]; active: string[] }> {
  const bases = new Set<string>();
  for (const { name } of await store.listSequences()) {
    const [base] = /^idsmith-verify\/[0-9a-z]+-[0-9a-z]+\//.exec(name) ?? [];
    if (base !== undefined) bases.add(base);
  }
  const isOver = (base: string) => Number.parseInt(base.slice(TRIAL.length), 36) < now;
  return { over: [...bases].filter(isOver), active: [...bases].filter((base) => !isOver(base)) };
}

/**
 * Removes the namespaces and sequences of a run, and nothing else.
 *
 * @param noted namespaces that are known besides those that have a sequence
 * @returns the names that are still there
 */
export async function removeRun(
  store: Store,
  base: string,
  noted: readonly string[] = [],
): Promise<string[]> {
  const names = (await store.listSequences()).map(({ name }) => name).filter((name) => name.startsWith(base));
  const namespaces = new Set([...noted, ...names.flatMap((name) => namespaceOf(base, name))]);
  const left = new Set<string>();
  await eachOf([...namespaces], async (namespace) => {
    // A store that cannot remove the records, or a server of an earlier version.
    await store.removeTrial?.(namespace).catch(() => undefined);
    if (!(await isEmpty(store, namespace))) left.add(namespace);
  });
  // The sequence of a namespace that is still there stays, so that a later run finds the namespace.
  const removable = names.filter((name) => !namespaceOf(base, name).some((namespace) => left.has(namespace)));
  await eachOf(removable, (name) =>
    store.removeSequence(name).catch((error: unknown) => {
      if (!(error instanceof NoSuchSequenceError)) left.add(name);
    }),
  );
  return [...left];
}

/** Does the work for all of them, a few at a time. */
async function eachOf<T>(things: T[], work: (thing: T) => Promise<unknown>): Promise<void> {
  const workSome = async () => {
    for (let next = things.shift(); next !== undefined; next = things.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: 4 }, workSome));
}

/** Tells whether a namespace has no records. A read that is late counts only if it says so again. */
async function isEmpty(store: Store, namespace: string): Promise<boolean> {
  for (let tries = 0; tries < 3; tries++) {
    if (tries > 0) await sleep(200);
    if ((await store.listLeases(namespace)).length === 0) return true;
  }
  return false;
}

/** The name of the sequence that stands for a namespace. Names of sequences have no quotes and braces. */
const markOf = (base: string, namespace: string) =>
  `${base}${MARK}${encodeURIComponent(namespace.slice(base.length)).replaceAll("'", '%27')}`;

/** The namespace that a sequence stands for, if it stands for one. */
function namespaceOf(base: string, name: string): string[] {
  const mark = `${base}${MARK}`;
  return name.startsWith(mark) ? [base + decodeURIComponent(name.slice(mark.length))] : [];
}
