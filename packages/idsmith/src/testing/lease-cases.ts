import { LeasesExhaustedError } from '../errors.js';
import { acquireLease } from '../lease/lease.js';
import type { LeaseRecord, LeaseStore } from '../lease/port.js';
import { type ConformanceCase, type ConformanceOptions, equal, namesOf } from './conformance.js';

/**
 * The behaviours that every lease store must have.
 *
 * Each case uses a namespace of its own. So the cases may run on one store, in any order and at the same time. On a store
 * that can forget, one case waits for `maxTtl` and four seconds: set `maxTtl` low. Some cases write records that no lease
 * writes, and do nothing on a store that is `guarded`.
 *
 * @param open returns the store under test; called once for each case, and may return the same store each time
 *
 * @example
 * for (const { name, run } of leaseStoreCases(() => myStore)) it(name, run);
 */
export function leaseStoreCases(
  open: () => Promise<LeaseStore> | LeaseStore,
  options: ConformanceOptions = {},
): ConformanceCase[] {
  const nextName = namesOf(options);
  return CASES.map(([name, check]) => ({
    name,
    run: async () => check(await open(), nextName()),
  }));
}

/** A record of node 0 that is held. Cases change the fields that they test. */
const HELD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

/** The record of a namespace itself that no store refuses. */
const BIRTH: LeaseRecord = {
  ...HELD,
  id: -1,
  owner: 'birth',
  epoch: 0,
  fence: Number.MAX_SAFE_INTEGER,
  expiresAt: 0,
};

/** The lineage of a store; `undefined` if it tells none. */
const lineageOf = async (store: LeaseStore, namespace: string) => (await store.moment?.(namespace))?.lineage;

type Check = (store: LeaseStore, namespace: string) => Promise<void>;

const CASES: [name: string, check: Check][] = [
  [
    'an unknown namespace is empty',
    async (store, namespace) => {
      equal(await store.listLeases(namespace), []);
    },
  ],
  [
    'a record comes back as it was put',
    async (store, namespace) => {
      const record = { ...HELD, label: `quotes ' " \\ and Ünïcödé 🔑`, owner: `o'"\\` };
      equal(await store.swapLease(namespace, undefined, record), true);
      equal(await store.listLeases(namespace), [record]);
    },
  ],
  [
    'a namespace is listed once it has a record, whatever its name',
    async (store, namespace) => {
      if (store.namespaces === undefined || store.guarded) return;
      const names = [namespace, `${namespace}/ %2F ü 🔑#`, `${namespace}!`];
      const listed = async () =>
        ((await store.namespaces?.()) ?? []).filter((name) => [...names, `${namespace}?`].includes(name));
      equal(await listed(), []);
      for (const name of names)
        for (const id of [-2, 0, 7]) equal(await store.swapLease(name, undefined, { ...HELD, id }), true);
      equal(await listed(), [...names].sort());
      equal(await store.listLeases(`${namespace}?`), []);
      equal(await listed(), [...names].sort());
    },
  ],
  [
    'a page has the records of its node ids, and those of the namespace itself',
    async (store, namespace) => {
      if (store.readLeases === undefined || store.guarded) return;
      equal(await store.readLeases(namespace, 0, 5), []);
      for (const id of [-2, 0, 1, 9, 10, 11, 12, 19, 100, 101, 1000])
        equal(await store.swapLease(namespace, undefined, { ...HELD, id, label: `host ${id}` }), true);
      const page = async (first: number, count: number) => {
        const found = (await store.readLeases?.(namespace, first, count)) ?? [];
        equal(
          found.filter(({ id, label }) => label !== `host ${id}`),
          [],
        );
        return found.map(({ id }) => id).sort((a, b) => a - b);
      };
      equal(await page(0, 64), [-2, 0, 1, 9, 10, 11, 12, 19]);
      equal(await page(10, 3), [-2, 10, 11, 12]);
      equal(await page(100, 1), [-2, 100]);
      equal(await page(2, 7), [-2]);
      equal(await page(0, 0), [-2]);
    },
  ],
  [
    'a claim is made only while the record of the namespace itself is the same',
    async (store, namespace) => {
      if (store.claimLease === undefined || store.guarded) return;
      const lineage = await lineageOf(store, namespace);
      const birth = { ...BIRTH, label: lineage ?? 'host 1' };
      equal(await store.claimLease(namespace, undefined, HELD, birth), false);
      equal(await store.swapLease(namespace, undefined, birth), true);
      equal(await store.claimLease(namespace, undefined, HELD, { ...birth, owner: 'bir' }), false);
      // The label is the lineage. A store that tells none does not compare it.
      const renamed = { ...birth, label: lineage ?? 'another' };
      equal(await store.claimLease(namespace, undefined, HELD, renamed), true);
      equal(await store.claimLease(namespace, undefined, HELD, birth), false);
      equal(await store.claimLease(namespace, HELD, { ...HELD, epoch: 2 }, birth), true);
    },
  ],
  [
    'its clock and its lineage, if it tells one, come in one answer',
    async (store, namespace) => {
      if (store.moment === undefined) return;
      equal(typeof store.claimLease, 'function');
      const [first, second] = [await store.moment(namespace), await store.moment(namespace)];
      equal(Number.isSafeInteger(first.now) && first.now > Date.UTC(2020), true);
      equal(second.now >= first.now, true);
      equal(second.lineage, first.lineage);
    },
  ],
  [
    'with a lineage, the record of the namespace itself is written only under the present one',
    async (store, namespace) => {
      const lineage = await lineageOf(store, namespace);
      if (lineage === undefined || store.guarded) return;
      const [birth, lost] = [lineage, `${lineage}!`].map((label) => ({ ...BIRTH, label }));
      equal(await store.swapLease(namespace, undefined, lost as LeaseRecord), false);
      equal(await store.listLeases(namespace), []);
      equal(await store.swapLease(namespace, undefined, birth as LeaseRecord), true);
      equal(await store.listLeases(namespace), [birth]);
    },
  ],
  [
    'with a lineage, a claim is made only under the present one',
    async (store, namespace) => {
      const lineage = await lineageOf(store, namespace);
      if (lineage === undefined || store.guarded) return;
      const birth = { ...BIRTH, label: lineage };
      equal(await store.swapLease(namespace, undefined, birth), true);
      const lost = { ...birth, label: `${lineage}!` };
      equal(await store.claimLease?.(namespace, undefined, HELD, lost), false);
      equal(await store.listLeases(namespace), [birth]);
      // The holder of a record needs no more proof than the record.
      equal(await store.claimLease?.(namespace, undefined, HELD, birth), true);
      equal(await store.swapLease(namespace, HELD, { ...HELD, fence: 1500 }), true);
    },
  ],
  [
    'a free record has no owner, which is not the empty text',
    async (store, namespace) => {
      const free = { ...HELD, owner: null, expiresAt: 0, label: '' };
      equal(await store.swapLease(namespace, undefined, free), true);
      equal(await store.listLeases(namespace), [free]);
      equal(await store.swapLease(namespace, { ...free, owner: '' }, HELD), false);
      equal(await store.swapLease(namespace, free, { ...HELD, epoch: 2 }), true);
    },
  ],
  [
    'no digit of a large number is lost',
    async (store, namespace) => {
      if (store.guarded) return;
      const large = Number.MAX_SAFE_INTEGER;
      const record = { ...HELD, id: 65_535, epoch: large, fence: large - 1, expiresAt: large - 2 };
      equal(await store.swapLease(namespace, undefined, record), true);
      equal(await store.listLeases(namespace), [record]);
      equal(await store.swapLease(namespace, { ...record, epoch: large - 1 }, record), false);
    },
  ],
  [
    "the namespace's own record, with id −1, is one like any other",
    async (store, namespace) => {
      if (store.guarded) return;
      const { label } = HELD;
      const record = { ...BIRTH, label: (await lineageOf(store, namespace)) ?? label };
      equal(await store.swapLease(namespace, undefined, record), true);
      equal(await store.listLeases(namespace), [record]);
    },
  ],
  [
    'a record is not put where there is one',
    async (store, namespace) => {
      await store.swapLease(namespace, undefined, HELD);
      equal(await store.swapLease(namespace, undefined, { ...HELD, owner: 'b' }), false);
      equal(await store.listLeases(namespace), [HELD]);
    },
  ],
  [
    'a record that is not there is not replaced',
    async (store, namespace) => {
      equal(await store.swapLease(namespace, HELD, { ...HELD, epoch: 2 }), false);
      equal(await store.listLeases(namespace), []);
    },
  ],
  [
    'a record is replaced when it is as expected',
    async (store, namespace) => {
      const next = { ...HELD, owner: 'b', epoch: 2, fence: 3000, expiresAt: 4000, label: 'host 2' };
      await store.swapLease(namespace, undefined, HELD);
      equal(await store.swapLease(namespace, HELD, next), true);
      equal(await store.listLeases(namespace), [next]);
      equal(await store.swapLease(namespace, HELD, { ...HELD, epoch: 9 }), false);
      equal(await store.listLeases(namespace), [next]);
    },
  ],
  ...(['owner', 'epoch', 'fence', 'expiresAt'] as const).map((field): [string, Check] => [
    `a record is not replaced when it is another in its ${field}`,
    async (store, namespace) => {
      await store.swapLease(namespace, undefined, HELD);
      const other = { ...HELD, [field]: field === 'owner' ? 'b' : HELD[field] + 1 };
      equal(await store.swapLease(namespace, other, { ...HELD, epoch: 5 }), false);
      equal(await store.listLeases(namespace), [HELD]);
    },
  ]),
  [
    'the label does not count',
    async (store, namespace) => {
      await store.swapLease(namespace, undefined, HELD);
      equal(await store.swapLease(namespace, { ...HELD, label: 'other' }, { ...HELD, epoch: 2 }), true);
    },
  ],
  [
    'a swap that changes nothing but the label succeeds',
    async (store, namespace) => {
      await store.swapLease(namespace, undefined, HELD);
      equal(await store.swapLease(namespace, HELD, HELD), true);
      equal(await store.swapLease(namespace, HELD, { ...HELD, label: 'renamed' }), true);
      equal(await store.listLeases(namespace), [{ ...HELD, label: 'renamed' }]);
    },
  ],
  [
    'namespaces do not see each other, however they are called',
    async (store, namespace) => {
      const names = ['', 'x', 'X', ' x', 'x ', 'a:b', '{a}', `'; --`, '%', '_', 'ü'].map(
        (name) => `${namespace}${name}`,
      );
      for (const [i, name] of names.entries()) await store.swapLease(name, undefined, { ...HELD, fence: i });
      for (const [i, name] of names.entries()) equal(await store.listLeases(name), [{ ...HELD, fence: i }]);
    },
  ],
  [
    'all of many records are listed',
    async (store, namespace) => {
      // A store with a limit for one reply has the limit below a thousand. A server has none of its own, and checks every swap.
      const ids = Array.from({ length: store.guarded ? 200 : 1000 }, (_, id) => id);
      for (let i = 0; i < ids.length; i += 50) {
        await Promise.all(
          ids.slice(i, i + 50).map((id) => store.swapLease(namespace, undefined, { ...HELD, id })),
        );
      }
      const listed = await store.listLeases(namespace);
      equal(
        listed.map(({ id }) => id).sort((a, b) => a - b),
        ids,
      );
    },
  ],
  [
    'of many who put a record at once, one succeeds',
    async (store, namespace) => {
      const swaps = racers(32).map((owner) => store.swapLease(namespace, undefined, { ...HELD, owner }));
      await onlyOneWins(store, namespace, swaps);
    },
  ],
  [
    'of many who replace a record at once, one succeeds',
    async (store, namespace) => {
      await store.swapLease(namespace, undefined, HELD);
      const swaps = racers(32).map((owner) => store.swapLease(namespace, HELD, { ...HELD, owner, epoch: 2 }));
      await onlyOneWins(store, namespace, swaps);
    },
  ],
  [
    'of 64 who acquire 64 node ids at once each gets its own, and the 65th none',
    async (store, namespace) => {
      // A store must answer within a third of the ttl, also one that 64 clients on a busy machine ask at once.
      const ttl = Math.min(120_000, store.maxTtl ?? 120_000);
      const take = () => acquireLease(store, { namespace, size: 64, ttl, maxSkew: 2000 });
      // The first request may load a driver and create a table.
      await store.listLeases(namespace);
      const taking = racers(64).map(take);
      try {
        equal(new Set((await Promise.all(taking)).map(({ id }) => id)).size, 64);
        const surplus = take();
        taking.push(surplus);
        const refusal = await surplus.catch((error: unknown) => error);
        equal(refusal instanceof LeasesExhaustedError, true);
      } finally {
        // A case that fails leaves no lease that is renewed.
        const taken = await Promise.allSettled(taking);
        const leases = taken.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
        await Promise.allSettled(leases.map((lease) => lease.release()));
      }
    },
  ],
  [
    'its clock, if it has one, gives whole milliseconds since 1970 that do not go back',
    async (store) => {
      const [first, second] = [await store.now?.(), await store.now?.()];
      if (first === undefined || second === undefined) return;
      equal(Number.isSafeInteger(first) && first > Date.UTC(2020), true);
      equal(second >= first, true);
    },
  ],
];

function racers(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `racer ${i}`);
}

async function onlyOneWins(store: LeaseStore, namespace: string, swaps: Promise<boolean>[]): Promise<void> {
  const won = (await Promise.all(swaps)).flatMap((success, i) => (success ? [`racer ${i}`] : []));
  equal(won.length, 1);
  equal(
    (await store.listLeases(namespace)).map(({ owner }) => owner),
    won,
  );
}
