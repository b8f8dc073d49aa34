// npm run bench -- uuid7

import * as nodeCrypto from 'node:crypto';
import { Uuid7Generator } from 'idsmith';
import { typeIds } from 'idsmith/typeid';
import { uuid7 } from 'idsmith/uuid7';
import { nanoid } from 'nanoid';
import { typeid, typeidUnboxed } from 'typeid-js';
import { uuidv7 as unikuV7 } from 'uniku/uuid/v7';
import { v7 } from 'uuid';
import { uuidv7 } from 'uuidv7';
import { consumed, measure, printTable, printTargets, save, versionOf } from './harness.mjs';

const VERSION_7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const TYPED = /^user_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const check = (id) => VERSION_7.test(id);
const isTyped = (id) => TYPED.test(id);
const ours = { version: versionOf('idsmith'), check };
const peer = (name, call, shown = name) => ({ name: shown, version: versionOf(name), call, check });

const generator = new Uuid7Generator();
const users = typeIds('user');
const shared = Uuid7Generator.attach(new Uuid7Generator().share());
const bytes = new Uint8Array(16 * 1000);
// Node has it from version 26 on.
const { randomUUID, randomUUIDv7 } = nodeCrypto;

const results = measure([
  { ...ours, name: 'next()', call: () => generator.next() },
  { ...ours, name: 'uuid7()', call: () => uuid7() },
  { ...ours, name: 'next(), shared with threads', call: () => shared.next() },
  { ...ours, name: 'batch(1000)', call: () => generator.batch(1000), ids: 1000 },
  { ...ours, name: 'fill(), 1000 ids', call: () => generator.fill(bytes), ids: 1000 },
  { name: 'crypto.randomUUID', version: process.version, call: () => randomUUID() },
  ...(randomUUIDv7
    ? [{ name: 'crypto.randomUUIDv7', version: process.version, call: () => randomUUIDv7(), check }]
    : []),
  peer('uniku', () => unikuV7(), 'uniku v7'),
  peer('uuidv7', () => uuidv7()),
  peer('uuid', () => v7(), 'uuid v7'),
  { ...peer('nanoid', () => nanoid()), check: undefined },
  { ...ours, name: "typeIds('user').next()", call: () => users.next(), check: isTyped },
  { ...peer('typeid-js', () => typeidUnboxed('user'), 'typeidUnboxed of typeid-js'), check: isTyped },
  { ...peer('typeid-js', () => typeid('user').toString(), 'typeid of typeid-js'), check: isTyped },
  { name: 'Date.now() and nothing else', version: process.version, call: () => Date.now() },
]);

const machine = printTable('UUIDs of version 7, strings flattened', results, 'next()');
const of = (name) => results.find((result) => result.name === name)?.nanoseconds;
const against = (name, target, ours = 'next()') => ({
  what: `${ours} against ${name}`,
  ratio: of(name) / of(ours),
  target,
});
const TYPE_IDS = "typeIds('user').next()";
const targets = [
  against('uuid v7', 8),
  against('uuidv7', 3),
  against('uniku v7', 1),
  against('crypto.randomUUID', 1),
  ...['uuid v7', 'uuidv7', 'uniku v7', 'nanoid'].map((name) => against(name, 1, 'uuid7()')),
  ...['typeidUnboxed of typeid-js', 'typeid of typeid-js', 'uuid v7', 'uuidv7', 'nanoid'].map((name) =>
    against(name, 1, TYPE_IDS),
  ),
  ...(randomUUIDv7 ? [against('crypto.randomUUIDv7', 1)] : []),
];
printTargets(targets);
save('uuid7', {
  machine,
  targets,
  results: results.map(({ name, version, nanoseconds }) => ({ name, version, nanoseconds })),
  consumed: consumed(),
});
