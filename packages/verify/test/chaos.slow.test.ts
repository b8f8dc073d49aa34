import { expect, it } from 'vitest';
import { describeWith } from '#services';
import { depth } from '../../../test/depth.ts';
import { runChaos, showChaosReport } from '../src/runs/chaos.ts';
import { CHAOS_STORES, type ChaosStoreName } from './support/private-stores.ts';

// One short run on each of these stores, on the first two at depth 0; `npm run lab -- chaos` has longer ones on every store.

const SEED = 20_260_801;
const NAMES: readonly ChaosStoreName[] = ['postgres', 'redis'];
const LONG_NAMES: readonly ChaosStoreName[] = [
  'dynamodb',
  'redis-sentinel',
  // They go back, and newcomers wait for half a minute.
  'sqlite-replaced',
  'postgres-promoted',
  'mariadb-promoted',
];

// They wait more than they work.
const BESIDE_OTHERS = { concurrent: true };

for (const name of depth === 0 ? NAMES : [...NAMES, ...LONG_NAMES])
  await describeWith(
    CHAOS_STORES[name].services,
    `Processes that mint with leases from ${name}`,
    () => {
      it('never hand out an id twice, and go on when faults are over', { timeout: 400_000 }, async () => {
        const report = await runChaos(name, CHAOS_STORES[name], { seed: SEED });
        expect(report.problems, showChaosReport(report)).toEqual([]);
        expect(report.ids).toBeGreaterThan(1000);
        expect(report.faults).toMatchObject({ 'copied, and told so': 1 });
        expect(report.localityIds).toBeGreaterThan(0);
        expect(report.localityIds).toBeLessThan(report.ids);
      });
    },
    BESIDE_OTHERS,
  );

await describeWith(
  ['redis'],
  'A Redis that is said to be durable, and goes back in time',
  () => {
    it.runIf(depth > 0)(
      'is found out: two processes mint the same ids, or with the same node id at the same time',
      {
        timeout: 400_000,
      },
      async () => {
        const { redis } = CHAOS_STORES;
        const start = async () => {
          const { long: _, target, faults, ...store } = await redis.start();
          const { url } = target as { url: string };
          return {
            ...store,
            target: { url: url.replace(/\?.*/, '?durable=true') },
            faults: { 'store went back': faults['store went back']! },
          };
        };
        let found: readonly string[] = [];
        for (let seed = SEED; seed < SEED + 4 && found.length === 0; seed++)
          found = (await runChaos('redis', { ...redis, start }, { seed })).problems;
        // The same loss, with or without ids that happened to meet.
        expect(found.join('\n')).toMatch(
          /was handed out by process \d+ and by process \d+|process \d+ and process \d+ both minted with node id/,
        );
      },
    );
  },
  BESIDE_OTHERS,
);
