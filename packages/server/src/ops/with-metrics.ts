import type { Store } from 'idsmith';
import type { Metrics } from './metrics.js';

type Method = (...args: unknown[]) => Promise<unknown>;

/** Methods that do not ask the store. */
const UNTIMED = ['close', 'warnings', 'lineageRead'];

/**
 * Wraps a store so that its operations are timed and counted. Properties such as `durable` are read from the inner store each
 * time, because an `httpStore` learns them with its first answer. Optional operations are there if the inner store has them.
 */
export function withMetrics(store: Store, metrics: Metrics): Store {
  const wrapped = new Map<string, Method>();

  function wrap(operation: string): Method {
    return async (...args) => {
      const started = performance.now();
      try {
        // Looked up at each call: a store may replace its methods.
        const result = await (Reflect.get(store, operation) as Method).apply(store, args);
        if (operation === 'allocate') metrics.blockFetches.add(1, args[0] as string);
        return result;
      } catch (error) {
        const { code } = (error ?? {}) as { code?: unknown };
        if (code === 'STORE') metrics.storeErrors.add(1, operation);
        if (code === 'STORE_WENT_BACK') metrics.storeWentBack.add(1, operation);
        throw error;
      } finally {
        metrics.recordStoreDuration(operation, (performance.now() - started) / 1000);
      }
    };
  }

  return new Proxy(store, {
    get(target, key) {
      const value = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (typeof key === 'symbol' || UNTIMED.includes(key)) return value.bind(target);
      const known = wrapped.get(key) ?? wrap(key);
      wrapped.set(key, known);
      return known;
    },
  });
}
