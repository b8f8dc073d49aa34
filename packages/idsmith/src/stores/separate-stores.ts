import { warn } from '#runtime';
import { show } from '../options.js';
import type { DisposableStore } from './store.js';

const USERS = Symbol.for('idsmith.separate-stores');

/** The open stores that give out ids of one name. */
interface Users {
  readonly stores: Set<object>;
  isWarned: boolean;
}

/** The open stores of this process that know nothing of each other, by what they give out: `namespace "orders"`. */
function users(): Map<string, Users> {
  const realm = globalThis as { [USERS]?: Map<string, Users> };
  realm[USERS] ??= new Map();
  return realm[USERS];
}

/**
 * Warns when a second store of `sqlite::memory:` gives out ids of the same name in this process. Such a store lives in the memory of its
 * connection, so each of them begins at the first node id and the first number, and ids repeat.
 */
export function warnOfRepeats(store: DisposableStore): DisposableStore {
  const { swapLease, defineSequence, close } = store;
  const use = (name: string) => {
    const found = users().get(name) ?? { stores: new Set(), isWarned: false };
    users().set(name, found);
    if (found.stores.add(store).size === 1 || found.isWarned) return;
    found.isWarned = true;
    warn(
      `this process has opened sqlite::memory: more than once, and each time a store of its own: both give out ids of ${name}, so ids ` +
        "repeat. Open it once, close() it before it is opened again, or use connect('sqlite::memory:', { shared: true })",
      'SEPARATE_STORES',
    );
  };
  const end = () => {
    for (const [name, { stores }] of users())
      if (stores.delete(store) && stores.size === 0) users().delete(name);
    return close();
  };
  return Object.assign(store, {
    async swapLease(...args: Parameters<typeof swapLease>) {
      const [namespace, , next] = args;
      const isSwapped = await swapLease(...args);
      if (isSwapped && next.id >= 0) use(`namespace ${show(namespace)}`);
      return isSwapped;
    },
    async defineSequence(...args: Parameters<typeof defineSequence>) {
      await defineSequence(...args);
      use(`sequence ${show(args[0].name)}`);
    },
    close: end,
    [Symbol.asyncDispose]: end,
  });
}
