import { InvalidOptionError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { SLOTS, slotOf, taggedName, tagOfSlot, untaggedName } from '../../src/keys/slots.ts';
import { taggedArguments } from '../../src/map/tagged-client.ts';

const KEY = '1jyVFw3401';

describe('The slot of a key', () => {
  it('is that of Redis Cluster, with and without a hash tag', () => {
    expect(slotOf('123456789')).toBe(0x31c3);
    expect(slotOf('foo')).toBe(12_182);
    expect(slotOf('{foo}.a{b}')).toBe(12_182);
    expect(slotOf('a{}foo')).not.toBe(slotOf(''));
    expect(slotOf(taggedName(`${KEY}-part`))).toBe(slotOf(KEY));
  });

  it('has a tag', () => {
    for (let slot = 0; slot < SLOTS; slot++) expect(slotOf(`x:{${tagOfSlot(slot)}}`)).toBe(slot);
  });
});

describe('The name of a key in a cluster', () => {
  it('has a hash tag if the key has a suffix, and leads back to the key', () => {
    for (const key of [KEY, `${KEY}-part`, `${KEY}-a-{b}`, `${KEY}-`, 'session:42', 'a:b-c', '-x'])
      expect(untaggedName(taggedName(key))).toBe(key);
    expect([KEY, `${KEY}-a-b`].map((key) => taggedName(key))).toEqual([KEY, `{${KEY}}-a-b`]);
    const bytes = Buffer.from(`${KEY}-\xff`, 'latin1');
    expect(Buffer.from(untaggedName(taggedName(bytes)) as Uint8Array).equals(bytes)).toBe(true);
  });
});

describe('The arguments of a command for a cluster', () => {
  const [part, tagged] = [`${KEY}-part`, `{${KEY}}-part`];
  const callback = () => {};
  const cases: [method: string, args: unknown[], expected: unknown[]][] = [
    ['hset', [part, 'ref', part], [tagged, 'ref', part]],
    ['sAdd', [KEY, part], [KEY, part]],
    ['getBuffer', [Buffer.from(part)], [Buffer.from(tagged)]],
    ['del', [[KEY, part]], [[KEY, tagged]]],
    ['del', [[KEY, part], callback], [[KEY, tagged], callback]],
    ['hset', [[part, 'f', part], callback], [[tagged, 'f', part], callback]],
    ['rename', [KEY, part], [KEY, tagged]],
    ['xgroup', ['CREATE', part, 'g', '0'], ['CREATE', tagged, 'g', '0']],
    ['blpop', [part, 1], [tagged, 1]],
    ['evalsha', ['sha', 1, part, part], ['sha', 1, tagged, part]],
    ['evalSha', ['sha', { keys: [part], arguments: [part] }], ['sha', { keys: [tagged], arguments: [part] }]],
    ['call', ['HGET', part, 'f'], ['HGET', tagged, 'f']],
    ['json.get', [part, { path: '$' }], [tagged, { path: '$' }]],
    ['mset', [KEY, '1'], [KEY, '1']],
  ];
  it.each(cases)('of %s have hash tags in keys only', (method, args, expected) => {
    expect(taggedArguments(method, args, KEY)).toEqual(expected);
  });

  it.each(['mset', 'sort', 'zunionstore', 'sendCommand'])(
    'of %s are refused with a suffixed key',
    (method) => {
      expect(() => taggedArguments(method, [part, '1'], KEY)).toThrow(InvalidOptionError);
    },
  );
});
