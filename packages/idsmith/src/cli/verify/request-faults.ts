import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../../errors.js';
import type { Store } from '../../stores/store.js';
import { wrapStore } from './wrap-store.js';

/** What befalls the requests of a process. */
export const REQUEST_FAULTS = [
  'requests lost',
  'answers lost',
  'requests late',
  'requests repeated',
] as const;
export type RequestFault = (typeof REQUEST_FAULTS)[number];

/** The fault at work, and the delay of a late request. */
export interface RequestTrouble {
  fault: RequestFault | 'none';
  /** Milliseconds. */
  delay: number;
}

/** The store, as it looks through a bad connection. Works on every store, also on one without a network. */
export function troubled(store: Store, trouble: RequestTrouble): Store {
  return wrapStore(store, async (name, _args, call) => {
    switch (trouble.fault) {
      case 'none':
        return call();
      case 'requests lost':
        throw failure(name, 'the request was lost');
      case 'answers lost':
        await call();
        throw failure(name, 'the answer was lost');
      case 'requests late':
        // The caller has given up long before the request arrives.
        void sleep(trouble.delay)
          .then(call)
          .catch(() => {});
        throw failure(name, 'the request was late');
      case 'requests repeated': {
        const answer = await call();
        await call().catch(() => {});
        return answer;
      }
    }
  });
}

const failure = (name: string, why: string) =>
  new StoreError(`${name}: ${why}, as idsmith verify has arranged`);
