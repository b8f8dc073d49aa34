// Stores with one defect each, for `idsmith verify --store-module`. The variable DEFECT names the defect, STORE the store behind it.

import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore as open } from 'idsmith/stores';

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
    const failOver = async (namespace) => {
      await sleep(1000);
      const replicated = await store.listLeases(namespace);
      await sleep(900);
      for (const record of await store.listLeases(namespace)) {
        const older = replicated.find(({ id }) => id === record.id);
        if (record.id >= 0 && older) await store.swapLease(namespace, record, older);
      }
    };
    const swapLease = async (namespace, expected, next) => {
      if (!begun && namespace.endsWith('/flakes')) {
        begun = true;
        void failOver(namespace);
      }
      return store.swapLease(namespace, expected, next);
    };
    return { swapLease };
  },

  /** Says that it has altered a sequence, and has not. */
  'alters nothing'(store) {
    return { alterSequence: (name) => store.describeSequence(name) };
  },

  'is healthy': () => ({}),
};

export async function openStore() {
  const { DEFECT, STORE } = process.env;
  const store = await open(STORE);
  return { ...store, ...DEFECTS[DEFECT](store) };
}
