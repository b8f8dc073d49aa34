import { setTimeout as sleep } from 'node:timers/promises';
import { type Store, StoreError } from 'idsmith';
import { wrapStore } from '../history/history.js';

/** Faults of the requests of a process. */
export const REQUEST_FAULTS = [
  'requests lost',
  'answers lost',
  'requests late',
  'requests repeated',
] as const;
export type RequestFault = (typeof REQUEST_FAULTS)[number];

/** The fault at work, and the delay of a late request. */
export interface RequestFaultState {
  fault: RequestFault | 'none';
  /** Milliseconds. */
  delay: number;
}

/** The store, as it looks through a bad connection. Works on every store, also on one without a network. */
export function withRequestFaults(store: Store, state: RequestFaultState): Store {
  return wrapStore(store, async (name, _args, call) => {
    switch (state.fault) {
      case 'none':
        return call();
      case 'requests lost':
        throw failure(name, 'the request was lost');
      case 'answers lost':
        await call();
        throw failure(name, 'the answer was lost');
      case 'requests late':
        // The caller has given up long before the request arrives.
        void sleep(state.delay)
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
