// npm run bench -- flake

import { Snowflake as Sapphire } from '@sapphire/snowflake';
import FlakeId from 'flake-idgen';
import { acquireLease, defineLayout, FlakeGenerator, layouts, memoryStore } from 'idsmith';
import { Snowflake as NodejsSnowflake } from 'nodejs-snowflake';
import { SnowflakeIdv1 } from 'simple-flakeid';
import SnowflakeId from 'snowflake-id';
import { consumed, countRepeats, measure, printTable, printTargets, save, versionOf } from './harness.mjs';

const ours = versionOf('idsmith');
const peer = (name, call) => ({ name, version: versionOf(name), call, mayRepeat: true });
const fixed = new FlakeGenerator({ node: 3 });
const leased = new FlakeGenerator({
  node: await acquireLease(memoryStore(), { namespace: 'bench', size: 512, ttl: 3_600_000 }),
});
const wide = new FlakeGenerator({
  node: 3,
  layout: defineLayout({ epoch: layouts.jflake.epoch, timeBits: 41, nodeBits: 2, sequenceBits: 20 }),
});
const target = new BigUint64Array(100_000);

const sapphire = new Sapphire(new Date(layouts.jflake.epoch));
const nodejsSnowflake = new NodejsSnowflake({ custom_epoch: layouts.jflake.epoch, instance_id: 3 });
const flakeIdgen = new FlakeId({ id: 3 });
const snowflakeId = new (SnowflakeId.default ?? SnowflakeId)({ mid: 3 });
const simple = new SnowflakeIdv1({ workerId: 3, seqBitLength: 13, workerIdBitLength: 9 });

/** It throws when a millisecond is full; whoever uses it must try again. */
function nextOfFlakeIdgen() {
  for (;;) {
    try {
      return flakeIdgen.next().readBigUInt64BE();
    } catch {
      // The next millisecond will do.
    }
  }
}

const results = measure([
  { name: 'next()', version: ours, call: () => fixed.next() },
  { name: 'next(), leased', version: ours, call: () => leased.next() },
  { name: 'next(), 20 sequence bits', version: ours, call: () => wide.next() },
  { name: 'fill(), 20 sequence bits', version: ours, call: () => wide.fill(target), ids: target.length },
  peer('@sapphire/snowflake', () => sapphire.generate()),
  peer('nodejs-snowflake', () => nodejsSnowflake.getUniqueID()),
  peer('flake-idgen', () => nextOfFlakeIdgen()),
  peer('snowflake-id', () => snowflakeId.generate()),
  peer('simple-flakeid', () => simple.NextBigId()),
]);

const COUNTED = 4_000_000;
for (const result of results) {
  if (result.ids === undefined) result.repeats = countRepeats(COUNTED, result.call);
}

const machine = printTable('Flakes and their peers', results, 'next()');
const of = (name) => results.find((result) => result.name === name).nanoseconds;
console.log(`\nids that came more than once, of ${COUNTED.toLocaleString('en')}:`);
for (const { name, repeats } of results)
  if (repeats !== undefined) console.log(`${name.padEnd(28)}${repeats}`);

const honest = results.filter(({ mayRepeat, repeats }) => mayRepeat && repeats === 0);
const [fastest] = honest.sort((a, b) => a.nanoseconds - b.nanoseconds);
const ceiling = 1e6 / 8192;
const targets = [
  {
    what: "next() against the format's ceiling of 8,192 a millisecond",
    ratio: ceiling / of('next()'),
    target: 0.97,
  },
  {
    what: `next() against ${fastest.name}, the fastest peer without duplicates`,
    ratio: fastest.nanoseconds / of('next()'),
    target: 1.3,
  },
  {
    what: 'fill() with 20 sequence bits against 100 million a second',
    ratio: 10 / of('fill(), 20 sequence bits'),
    target: 1,
  },
  { what: 'leased against fixed', ratio: of('next()') / of('next(), leased'), target: 0.95 },
];
printTargets(targets);
save('flake', {
  machine,
  targets,
  results: results.map(({ name, version, nanoseconds, duplicates }) => ({
    name,
    version,
    nanoseconds,
    duplicates,
  })),
  consumed: consumed(),
});
