// Figures that pages quote, each made from what benchmarks have saved.

import { median, shown } from './charts.mjs';

const of = (list, name) => list.find((result) => result.name === name).nanoseconds;
const perSecond = (nanoseconds) => shown(1000 / nanoseconds);
const thousands = (rate) => Math.round(rate).toLocaleString('en');

/** Contenders with which `next()` is compared. */
function comparison(list, names) {
  const rows = names.map((name) => {
    const ratio = of(list, name) / of(list, 'next()');
    return `| \`${name}\` | ${perSecond(of(list, name))} | ${shown(ratio)} × as fast |`;
  });
  return rows.join('\n');
}

const own = (list, names) =>
  names.map((name) => `| \`${name}\` | ${perSecond(of(list, name))} | |`).join('\n');

/** A function for each mark. @type {Record<string, (data: Record<string, any>) => string>} */
export const figures = {
  locality: ({ locality: { machine, date, results } }) => `${machine}, ${date}:

| locality UUIDs | million ids a second | \`next()\` is |
|---|---:|---:|
${own(results, ['next()', 'batch(1000)', 'fill(), 1000 ids'])}
${comparison(results, ['hyperid', '@napi-rs/uuid v4', 'hyperid, fixedLength', 'bson ObjectId hex', 'crypto.randomUUID', 'uuid v7'])}`,

  uuid7: ({ uuid7: { results } }) => `| UUIDv7 | million ids a second | \`next()\` is |
|---|---:|---:|
${own(results, ['next()', 'batch(1000)', 'fill(), 1000 ids'])}
${comparison(results, ['crypto.randomUUID', 'uniku v7', 'uuidv7', 'uuid v7'])}`,

  sequence: ({ sequence: { calls, steady } }) => {
    const number = of(calls, 'bare () => n++') / of(calls, 'takeNumber()');
    const big = of(calls, 'bare () => n += 1n') / of(calls, 'take()');
    return `Sequences with ids in memory: \`takeNumber()\` makes ${perSecond(of(calls, 'takeNumber()'))} million calls a second, ${shown(number)} × a bare
\`() => n++\`, and \`take()\` ${perSecond(of(calls, 'take()'))} million, ${shown(big)} × \`() => n += 1n\`. One client took ${shown(steady.perSecond / 1e6)} million ids a second from
PostgreSQL, and ${steady.waits === 0 ? 'no call' : `${steady.waits} calls`} waited for the database.`;
  },

  keys: ({ keys: { minting, onAll } }) =>
    `Sharded keys: one Redis gave ${shown(minting[0].perSecond / 1e6)} million a second in a burst of two seconds, eight gave ${shown(onAll / 1e6)} million. In the long run a map mints
1.6 million a second.`,

  server: ({
    server: { machine, date, results, remote },
  }) => `${machine}, ${date}. The server and a load generator with 50 connections share the machine:

| | requests a second | ids a second | p99 |
|---|---:|---:|---:|
${results
  .filter(({ name }) => !name.startsWith('a constant'))
  .map(({ name, rate, ids, p99 }) => `| ${name} | ${thousands(rate)} | ${thousands(ids)} | ${p99} ms |`)
  .join('\n')}
| a \`Sequence\` over \`httpStore\` | | ${thousands(remote.perSecond)} | |`,

  reshard: ({
    reshard: { machine, date, keys, rates },
  }) => `${machine}, ${date}, ${thousands(keys)} small keys between two local servers:

| | keys a second |
|---|---:|
${Object.entries(rates)
  .map(([name, numbers]) => `| ${name} | ${thousands(median(numbers))} |`)
  .join('\n')}`,
};
