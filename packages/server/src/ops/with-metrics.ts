import type { Store } from 'idsmith';
import type { Metrics } from './metrics.js';

/**
 * Wraps a store so that its operations are timed and counted. Properties such as `durable` are read from the inner store each
 * time, because an `httpStore` learns them with its first answer.
 */
export function withMetrics(store: Store, metrics: Metrics): Store {
  async function timed<T>(operation: string, work: Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      return await work;
    } catch (error) {
      if ((error as { code?: unknown })?.code === 'STORE') metrics.storeErrors.add(1, operation);
      throw error;
    } finally {
      metrics.recordStoreDuration(operation, (performance.now() - started) / 1000);
    }
  }

  const result: Store = {
    get durable() {
      return store.durable ?? true;
    },
    ...(store.now !== undefined && { now: () => timed('now', store.now!()) }),
    listLeases: (namespace) => timed('listLeases', store.listLeases(namespace)),
    swapLease: (namespace, expected, next) => timed('swapLease', store.swapLease(namespace, expected, next)),
    defineSequence: (info) => timed('defineSequence', store.defineSequence(info)),
    alterSequence: (name, changes) => timed('alterSequence', store.alterSequence(name, changes)),
    describeSequence: (name) => timed('describeSequence', store.describeSequence(name)),
    listSequences: () => timed('listSequences', store.listSequences()),
    removeSequence: (name) => timed('removeSequence', store.removeSequence(name)),
    async allocate(name, blocks) {
      const run = await timed('allocate', store.allocate(name, blocks));
      metrics.blockFetches.add(1, name);
      return run;
    },
    ...(store.giveBack !== undefined && {
      giveBack: (name, tail) => timed('giveBack', store.giveBack!(name, tail)),
    }),
    close: () => store.close(),
  };
  for (const name of ['maxTtl', 'hostClock'])
    if (name in store) Object.defineProperty(result, name, { get: () => Reflect.get(store, name) });
  return result;
}
