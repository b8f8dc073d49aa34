import { type ShardConfig, ShardMap } from '@idsmith/shard';
import { InvalidOptionError } from 'idsmith';
import { expect, it } from 'vitest';
import { taggedArguments, taggedClient } from '../../src/map/tagged-client.ts';

const KEY = '1jyVFw3401';
const make = (config: unknown) => new ShardMap(config as ShardConfig);

it.each([
  ['null for its client', { cluster: null }, /^cluster must be an object with nodes, or a client .*null/],
  ['a number for its client', { cluster: 5 }, /^cluster must be an object with nodes, or a client .* 5/],
  ['no node', { cluster: { nodes: [] } }, /^cluster\.nodes must be a list of URLs or \[port, host\]/],
  ['no list', { cluster: { nodes: 'redis://h' } }, /^cluster\.nodes must be a list/],
  [
    'a node that is none',
    { cluster: { nodes: [['7000', 'h'], 7001] } },
    /^cluster\.nodes\[1\] must be a URL/,
  ],
  ['a weight', { cluster: { nodes: [['7000', 'h', 2]] } }, /^cluster\.nodes\[0\] must be a URL/],
  ['a database', { cluster: { nodes: ['redis://h:7000/2'] } }, /^cluster\.nodes\[0\] .*without a database/],
  [
    'two logins',
    { cluster: { nodes: ['redis://:secret@h:7000', 'redis://:other@h:7001'] } },
    /^cluster\.nodes\[1\] has another login than cluster\.nodes\[0\]/,
  ],
  [
    'createClient',
    { cluster: { nodes: ['redis://h:7000'] }, createClient: () => ({}) },
    /^createClient must be left out beside cluster\.nodes/,
  ],
])('A cluster with %s is refused, and no password shown', (_, config, message) => {
  expect(() => make(config)).toThrow(InvalidOptionError);
  expect(() => make(config)).toThrow(message);
  expect(() => make(config)).not.toThrow(/secret|other@/);
});

it('The names of nodes with TLS are not turned into addresses, which certificates do not have', async () => {
  const map = make({ cluster: { nodes: ['rediss://one.example:7000'] } });
  const client = map.getClient(KEY) as unknown as { options: { dnsLookup: (...args: unknown[]) => void } };
  const answers: unknown[] = [];
  client.options.dnsLookup('one.example', (...answer: unknown[]) => answers.push(answer));
  expect(answers).toEqual([[null, 'one.example']]);
  await map.close();
});

it('A client for a key tags the keys of modules, too, and shows all else as it is', () => {
  const calls: unknown[] = [];
  const symbol = Symbol('own');
  const json = { get: (...args: unknown[]) => calls.push(args) };
  const client = taggedClient({ json, isOpen: true, [symbol]: 5 }, KEY);
  client.json.get(`${KEY}-part`, { path: `${KEY}-part` });
  expect(calls).toEqual([[`{${KEY}}-part`, { path: `${KEY}-part` }]]);
  expect([client.isOpen, client[symbol]]).toEqual([true, 5]);
});

it('Text deep inside a value is no key', () => {
  const value = { a: { b: { c: { d: `${KEY}-part` } } } };
  expect(taggedArguments('mset', [KEY, value], KEY)).toEqual([KEY, value]);
});
