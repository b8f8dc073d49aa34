import { setTimeout as sleep } from 'node:timers/promises';
import { NoSuchSequenceError, SequenceExistsError, type Store } from 'idsmith';
import { reasonOf, TRIAL } from 'idsmith/internal/stores';
import { AnswerLimit, UnansweredError, wrapStore } from '../../history/history.js';

// A run leaves nothing behind, also when it is killed. Nobody can list the namespaces of a store, but everybody can list its
// sequences. So each namespace has a sequence that stands for it, which is made before the namespace and removed after it. Names
// begin with `idsmith-verify/` and the time at which the run is over in any case. A later run removes what is over.

/** A run that is not over at the planned time, ms, is dead. */
const GRACE = 3_600_000;

const MARK = 'namespace/';

/** The names of one run in a store, and their removal. */
export class TrialNames {
  /** The beginning of all names of the run. */
  readonly base: string;
  readonly #store: Store;
  readonly #noted = new Map<string, Promise<void>>();
  readonly #sequences = new Set<string>();

  /** @param ms the planned length of the run */
  constructor(store: Store, ms: number, random = Math.random) {
    this.#store = store;
    const isOverAt = Date.now() + ms + GRACE;
    this.base = `${TRIAL}${isOverAt.toString(36)}-${Math.floor(random() * 36 ** 6).toString(36)}/`;
  }

  /** The store, which notes each sequence, and each namespace before the first record is written there. */
  get noting(): Store {
    return wrapStore(this.#store, async (name, [first], call) => {
      if (name === 'swapLease' || name === 'claimLease') await this.note(first as string);
      if (name === 'defineSequence') this.noteSequence((first as { name: string }).name);
      return call();
    });
  }

  /** Notes a sequence, so that it is removed even if the store does not list it. Gives its name. */
  noteSequence(name: string): string {
    // The suites also try names that a store must refuse. Whoever has such a name, it is not the run.
    if (name.startsWith(this.base)) this.#sequences.add(name);
    return name;
  }

  /** Notes a namespace, so that it is found and removed whatever happens. */
  async note(namespace: string): Promise<void> {
    // The store's own record is not of the run, and stays.
    if (!namespace.startsWith(this.base)) return;
    const noting =
      this.#noted.get(namespace) ?? this.#define(this.noteSequence(markOf(this.base, namespace)));
    this.#noted.set(namespace, noting);
    return noting;
  }

  /** Removes everything of the run. Gives the names that are still there, with the reason. */
  remove(store = this.#store): Promise<string[]> {
    return removeRun(store, this.base, [...this.#noted.keys()], [...this.#sequences]);
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
  const removed: string[] = [];
  for (const base of over) {
    const left = await removeRun(store, base);
    removed.push(
      left.length === 0
        ? `removed ${base}, which an earlier run had left`
        : `${base} of an earlier run: still there: ${left.join(', ')}`,
    );
  }
  return [
    ...removed,
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

/** Attempts to remove a name, or to list all of them. */
const ATTEMPTS = 3;
/** The longest wait for an answer while names are removed, ms. */
const REMOVAL_ANSWER_MS = 5000;
/** The longest time in which names are removed, ms. */
const REMOVAL_MS = 20_000;

/**
 * Removes the namespaces and sequences of a run, and nothing else. Ends in any case, and removes what can be removed of a store that
 * errs or does not answer.
 *
 * @param noted namespaces that are known besides those that have a sequence
 * @param defined sequences that are known, for a store that does not list them
 * @returns the names that are still there, some with the reason
 */
export async function removeRun(
  store: Store,
  base: string,
  noted: readonly string[] = [],
  defined: readonly string[] = [],
): Promise<string[]> {
  const limited = new AnswerLimit(REMOVAL_ANSWER_MS).on(store);
  const end = performance.now() + REMOVAL_MS;
  const left = new Map<string, string>();
  const names = new Set(defined);
  await attempt(end, async () => {
    for (const { name } of await limited.listSequences()) if (name.startsWith(base)) names.add(name);
  }).catch((error) =>
    left.set(`${base}…`, `not listed: ${reasonOf(error)}; idsmith verify --clean removes it`),
  );
  const namespaces = new Set([...noted, ...[...names].flatMap((name) => namespaceOf(base, name))]);
  const emptied = async (namespace: string) => {
    let why = '';
    // A store that cannot remove the records, or a server of an earlier version.
    await limited.removeTrial?.(namespace).catch((error) => {
      why = reasonOf(error);
    });
    if (!(await isEmpty(limited, namespace))) left.set(namespace, why);
  };
  await eachOf([...namespaces], (namespace) =>
    attempt(end, () => emptied(namespace)).catch((error) => left.set(namespace, reasonOf(error))),
  );
  // The sequence of a namespace that is still there stays, so that a later run finds the namespace.
  const removable = [...names].filter(
    (name) => !namespaceOf(base, name).some((namespace) => left.has(namespace)),
  );
  const removed = (name: string) =>
    limited.removeSequence(name).catch((error: unknown) => {
      if (!(error instanceof NoSuchSequenceError)) throw error;
    });
  await eachOf(removable, (name) =>
    attempt(end, () => removed(name)).catch((error) => left.set(name, reasonOf(error))),
  );
  return [...left].map(([name, why]) => (why === '' ? name : `${name} (${why})`));
}

/** Does the work, again if it fails. What got no answer is not asked again. */
async function attempt(end: number, work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    if (performance.now() > end) throw new Error('the store took too long to remove it');
    try {
      await work();
      return;
    } catch (error) {
      if (tries === ATTEMPTS || error instanceof UnansweredError) throw error;
      await sleep(100 * tries);
    }
  }
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
