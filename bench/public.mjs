// npm run bench -- public

import { randomBytes, randomUUID } from 'node:crypto';
import { publicIds } from 'idsmith/public';
import { consumed, measure, printTable, printTargets, save, versionOf } from './harness.mjs';

const keys = { 1: randomBytes(32) };
const orders = publicIds({ prefix: 'ord', keys });
const users = publicIds({ prefix: 'usr', keys, of: 'uuid' });
const short = publicIds({ prefix: 'ord', keys, short: true });
const version = versionOf('idsmith');

let id = 1_703_865_194_431_643_648n;
const uuid = randomUUID();
let tail = 0;
const nextUuid = () => uuid.slice(0, 24) + (tail++).toString(16).padStart(12, '0');
const [orderText, userText, shortText] = [orders.encode(id), users.encode(uuid), short.encode(id)];

const results = measure([
  { name: 'encode', version, call: () => orders.encode(id++), check: orders.is },
  { name: 'encode, of uuid', version, call: () => users.encode(nextUuid()), check: users.is },
  { name: 'decode', version, call: () => orders.decode(orderText), mayRepeat: true },
  { name: 'decode, of uuid', version, call: () => users.decode(userText), mayRepeat: true },
]);
const shortResults = timeShort();

const machine = printTable('Public ids, strings flattened', [...results, ...shortResults], 'encode');
const targets = ['encode', 'encode, of uuid'].map((name) => ({
  what: `${name} against 500,000 a second`,
  ratio: 1e9 / results.find((result) => result.name === name).nanoseconds / 500_000,
  target: 1,
}));
printTargets(targets);
save('public', {
  machine,
  targets,
  results: [...results, ...shortResults].map(({ name, version, nanoseconds }) => ({
    name,
    version,
    nanoseconds,
  })),
  consumed: consumed(),
});

/** The short form is a hundred times as slow: too slow for the check of 200,000 ids in the harness. */
function timeShort() {
  const time = (name, call) => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < 2000; i++) call();
    return { name, version, nanoseconds: Number(process.hrtime.bigint() - start) / 2000 };
  };
  return [
    time('encode, short', () => short.encode(id++)),
    time('decode, short', () => short.decode(shortText)),
  ];
}
