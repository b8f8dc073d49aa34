import type { Store } from '../../stores/store.js';

/** Stands around every call of a store: makes the call with `call`, once, never or later, and answers in its place. */
export type Around = (
  name: string,
  args: readonly unknown[],
  call: () => Promise<unknown>,
) => Promise<unknown>;

/** The methods that ask the store. All others, such as `close`, are called as they are. */
const ASKING: readonly string[] = [
  ...['now', 'listLeases', 'readLeases', 'swapLease', 'claimLease'],
  ...['defineSequence', 'describeSequence', 'removeSequence', 'listSequences', 'alterSequence'],
  ...['allocate', 'giveBack'],
];

/** The store with `around` around each of its calls. Also for stores that are objects of a class. */
export function wrapStore(store: Store, around: Around): Store {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const method = (value as (...args: unknown[]) => Promise<unknown>).bind(target);
      if (!ASKING.includes(name as string)) return method;
      return (...args: unknown[]) => around(name as string, args, async () => method(...args));
    },
  });
}
