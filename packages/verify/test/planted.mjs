// Stores with one defect each, for `idsmith verify --store-module`. The variable DEFECT names the defect, STORE the store behind it.

import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from 'idsmith';
import { openStore as open } from 'idsmith/stores';

const NEVER = new Promise(() => {});

/** The swaps of all connections of this process. */
let swaps = 0;

const DEFECTS = {
  /** Every 20th swap is confirmed and not stored. */
  forgets(store) {
    return { swapLease: async (...args) => (++swaps % 20 === 0 ? true : store.swapLease(...args)) };
  },

  /** Swaps whatever is there, as an UPDATE without a condition does. */
  'swaps blindly'(store) {
    const swapLease = async (namespace, _expected, next) => {
      const found = (await store.listLeases(namespace)).find(({ id }) => id === next.id);
      return store.swapLease(namespace, found, next);
    };
    return { swapLease, claimLease: undefined };
  },

  /** Reads come from a replica that is one read behind. */
  'reads a replica'(store) {
    const replica = new Map();
    const listLeases = async (namespace) => {
      const records = await store.listLeases(namespace);
      const older = replica.get(namespace) ?? records;
      replica.set(namespace, records);
      return older;
    };
    return { listLeases, readLeases: undefined };
  },

  /** A driver that gives 64-bit numbers as floating-point numbers. */
  'rounds numbers'(store) {
    const allocate = async (...args) => {
      const { first, step, count } = await store.allocate(...args);
      return { first: BigInt(Number(first)), step, count };
    };
    return { allocate };
  },

  /** A server without NTP. */
  'has a wrong clock'(store) {
    return { hostClock: false, now: async () => (await store.now()) + 3_600_000 };
  },

  /** Another server takes over while processes mint, and has not got the last writes. */
  'fails over'(store) {
    let begun = false;
    // A record may be renewed at the very moment, and this process may be killed: each process tries, until one write is lost.
    const failOver = async (namespace) => {
      await sleep(1000);
      for (let isDone = false, tries = 0; !isDone && tries < 3; tries++) {
        const replicated = await store.listLeases(namespace);
        await sleep(900);
        for (const record of await store.listLeases(namespace)) {
          const older = replicated.find(({ id }) => id === record.id);
          const isLost = record.id >= 0 && older !== undefined && older.owner !== record.owner;
          if (isLost && (await store.swapLease(namespace, record, older))) isDone = true;
        }
      }
    };
    const swapLease = async (namespace, expected, next) => {
      if (!begun && namespace.endsWith('/flakes')) {
        begun = true;
        failOver(namespace).catch(() => {});
      }
      return store.swapLease(namespace, expected, next);
    };
    return { swapLease };
  },

  /** Says that it has altered a sequence, and has not. */
  'alters nothing'(store) {
    return { alterSequence: (name) => store.describeSequence(name) };
  },

  /** A pool without a line: whoever comes while others are served gets an error. */
  'errs while many allocate'(store) {
    let served = 0;
    const allocate = async (...args) => {
      if (served >= 3) throw new StoreError('too many at once');
      served++;
      return store.allocate(...args).finally(() => served--);
    };
    // A change takes longer than an error takes to come.
    const alterSequence = async (...args) => {
      await sleep(20);
      return store.alterSequence(...args);
    };
    return { allocate, alterSequence };
  },

  /** Every third call of anything is an error. */
  'errs now and then'(store) {
    let calls = 0;
    const erring = ([name, method]) => [
      name,
      async (...args) => {
        if (++calls % 3 === 0) throw new TypeError('socket hang up');
        return method(...args);
      },
    ];
    const methods = Object.entries(store).filter(([, member]) => typeof member === 'function');
    return Object.fromEntries(methods.map(erring));
  },

  /** A pool that has lost a connection, and waits for it. */
  'stops answering while many allocate'(store) {
    let calls = 0;
    return { allocate: (...args) => (++calls > 70 ? NEVER : store.allocate(...args)) };
  },

  /** The same, in the processes that mint. Something else of the store goes on for ever. */
  'stops answering processes'(store) {
    let calls = 0;
    const isWorker = process.send !== undefined;
    if (isWorker) return { allocate: (...args) => (++calls > 5 ? NEVER : store.allocate(...args)) };
    setInterval(() => {}, 1000);
    return {};
  },

  'stops answering when names are removed'(store) {
    return {
      alterSequence: store.describeSequence,
      removeTrial: () => NEVER,
      removeSequence: () => NEVER,
      close: () => NEVER,
    };
  },

  /** A promise that nobody waits for. */
  'throws where nobody hears it'(store) {
    const allocate = (...args) => {
      void Promise.reject(new Error('lost'));
      return store.allocate(...args);
    };
    return { allocate };
  },

  'is healthy': () => ({}),
};

export async function openStore() {
  const { DEFECT, STORE } = process.env;
  const store = await open(STORE);
  return { ...store, ...DEFECTS[DEFECT](store) };
}
