// npm run bench -- locality

import { randomUUID } from 'node:crypto';
import napi from '@napi-rs/uuid';
import { ObjectId } from 'bson';
import hyperid from 'hyperid';
import { LocalityGenerator, LocalityUuid } from 'idsmith';
import { nanoid } from 'nanoid';
import { ulid } from 'ulid';
import { v1, v4, v7 } from 'uuid';
import { uuidv7 } from 'uuidv7';
import { consumed, measure, printTable, printTargets, save, versionOf } from './harness.mjs';

const ours = { version: versionOf('idsmith'), check: LocalityUuid.isValid };
const peer = (name, call, shown = name) => ({ name: shown, version: versionOf(name), call });

const generator = new LocalityGenerator();
const sequential = new LocalityGenerator({ mode: 'sequential' });
const bytes = new Uint8Array(16 * 1000);
const variableHyperid = hyperid();
const fixedHyperid = hyperid({ fixedLength: true });

const results = measure([
  { ...ours, name: 'next()', call: () => generator.next() },
  { ...ours, name: 'next(), sequential', call: () => sequential.next() },
  { ...ours, name: 'batch(1000)', call: () => generator.batch(1000), ids: 1000 },
  { ...ours, name: 'fill(), 1000 ids', call: () => generator.fill(bytes), ids: 1000 },
  { ...ours, name: 'nextUuid().toString()', call: () => generator.nextUuid().toString() },
  { name: 'crypto.randomUUID', version: process.version, call: () => randomUUID() },
  peer('uuid', () => v1(), 'uuid v1'),
  peer('uuid', () => v4(), 'uuid v4'),
  peer('uuid', () => v7(), 'uuid v7'),
  peer('uuidv7', () => uuidv7()),
  peer('hyperid', () => variableHyperid(), 'hyperid'),
  peer('hyperid', () => fixedHyperid(), 'hyperid, fixedLength'),
  peer('nanoid', () => nanoid()),
  peer('ulid', () => ulid()),
  peer('@napi-rs/uuid', () => napi.v4(), '@napi-rs/uuid v4'),
  peer('bson', () => new ObjectId().toHexString(), 'bson ObjectId hex'),
  { name: 'Date.now() and nothing else', version: process.version, call: () => Date.now() },
]);

const machine = printTable('Locality UUIDs and their peers, strings flattened', results, 'next()');
const of = (name) => results.find((result) => result.name === name).nanoseconds;
const targets = [
  { what: 'next() against hyperid', ratio: of('hyperid') / of('next()'), target: 1.2 },
  { what: 'next() against crypto.randomUUID', ratio: of('crypto.randomUUID') / of('next()'), target: 3 },
  { what: 'next() against uuid v7', ratio: of('uuid v7') / of('next()'), target: 30 },
  { what: 'next() against the Java original at 12 million/s', ratio: 1000 / 12 / of('next()'), target: 1 },
  { what: 'batch(1000) against next()', ratio: of('next()') / of('batch(1000)'), target: 2 },
  { what: 'fill() against next()', ratio: of('next()') / of('fill(), 1000 ids'), target: 10 },
];
printTargets(targets);
save('locality', {
  machine,
  targets,
  results: results.map(({ name, version, nanoseconds }) => ({ name, version, nanoseconds })),
  consumed: consumed(),
});
