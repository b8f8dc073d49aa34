import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publicIds } from 'idsmith/public';
import { afterAll, describe, expect, it } from 'vitest';
import { idsmith, idsmithIn } from './in-process.ts';

const SECRET = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
const OTHER = '2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94';
const folder = mkdtempSync(join(tmpdir(), 'idsmith-public-cli-'));
afterAll(() => rmSync(folder, { recursive: true }));

function keyFile(name: string, text: string | Buffer, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}
const one = keyFile('one', `${SECRET}\n`);
const two = keyFile('two', `# keys of orders\n1 ${SECRET}\n\n2 ${OTHER}\n`);
const none = keyFile('none', '# a comment\n');
const json = keyFile('json', `{ "1": "${SECRET}" }`);
const latin1 = keyFile('latin1', Buffer.from(`# cl\u00e9\n1 ${SECRET}\n`, 'latin1'));
const orders = publicIds({ prefix: 'ord', keys: { 1: SECRET } });
const both = publicIds({ prefix: 'ord', keys: { 1: SECRET, 2: OTHER } });

describe('idsmith public', () => {
  it('encodes and decodes ids, one a line', async () => {
    const encoded = await idsmith('public', 'encode', '5', '10001', '--prefix', 'ord', '--key-file', one);
    expect(encoded).toMatchObject({ status: 0, lines: [orders.encode(5n), orders.encode(10001n)] });
    const decoded = await idsmith('public', 'decode', ...encoded.lines, '--prefix', 'ord', '--key-file', one);
    expect(decoded).toMatchObject({ status: 0, lines: ['5', '10001'], stderr: '' });
  });

  it('reads ids from standard input', async () => {
    const args = ['public', 'encode', '--prefix', 'ord', '--key-file', one];
    const { stdout } = await idsmithIn({ input: '1\n\n -2 \r\n3' }, ...args);
    expect(stdout).toBe([1n, -2n, 3n].map((id) => `${orders.encode(id)}\n`).join(''));
  });

  it('takes several keys, of which the highest or the named one encodes', async () => {
    const encode = async (...more: string[]) =>
      (await idsmith('public', 'encode', '5', '--prefix', 'ord', '--key-file', two, ...more)).lines;
    expect([await encode(), await encode('--current', '1')]).toEqual([
      [both.encode(5n)],
      [orders.encode(5n)],
    ]);
    const texts = [both.encode(5n), orders.encode(6n)];
    expect((await idsmith('public', 'decode', ...texts, '--prefix', 'ord', '--key-file', two)).lines).toEqual(
      ['5', '6'],
    );
  });

  it('takes UUIDs and makes short ids and JSON', async () => {
    const id = '019b7c4e-94ce-7ba1-9d1c-21f1a6a6c9e8';
    const flags = ['--prefix', 'usr', '--key-file', one];
    const [text = ''] = (await idsmith('public', 'encode', id, '--of', 'uuid', ...flags)).lines;
    expect((await idsmith('public', 'decode', text, '--of', 'uuid', ...flags)).lines).toEqual([id]);
    const [short = ''] = (await idsmith('public', 'encode', '5', '--short', ...flags)).lines;
    expect(short).toMatch(/^usr_.{13}$/);
    const { stdout } = await idsmith('public', 'decode', short, '--short', '--json', ...flags);
    expect(JSON.parse(stdout)).toEqual([{ public: short, id: '5' }]);
    expect((await idsmith('public', 'encode', '-5', ...flags)).status).toBe(0);
  });

  it.each<[string, string[], RegExp]>([
    ['another verb', ['sign'], /public needs one of encode, decode, not "sign"/],
    ['no prefix', ['encode', '5', '--key-file', one], /--prefix is required/],
    ['no file', ['encode', '5', '--prefix', 'ord'], /--key-file is required/],
    [
      'a missing file',
      ['encode', '5', '--prefix', 'ord', '--key-file', '/nowhere'],
      /cannot be read: ENOENT/,
    ],
    [
      'a file of JSON',
      ['encode', '5', '--prefix', 'ord', '--key-file', json],
      /json is JSON: it must have one key/,
    ],
    ['an empty file', ['encode', '5', '--prefix', 'ord', '--key-file', none], /none has no key: make one/],
    ['other bytes', ['encode', '5', '--prefix', 'ord', '--key-file', latin1], /latin1, line 1: not UTF-8/],
    ['a folder', ['encode', '5', '--prefix', 'ord', '--key-file', folder], /cannot be read: EISDIR/],
    ['a bad prefix', ['encode', '5', '--prefix', 'Ord', '--key-file', one], /prefix must be/],
    [
      'a bad id',
      ['encode', 'x', '--prefix', 'ord', '--key-file', one],
      /"x" is not a bigint or decimal text/,
    ],
    ['a bad text', ['decode', 'ord_5', '--prefix', 'ord', '--key-file', one], /must have 31 characters/],
    ['another kind', ['encode', '5', '--of', 'int32', '--prefix', 'ord', '--key-file', one], /of must be/],
  ])('has exit code 2 for %s', async (_name, args, message) => {
    const { status, stdout, stderr } = await idsmith('public', ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  it('does not show a key that stands where its file belongs', async () => {
    const args = ['public', 'encode', '5', '--prefix', 'ord', '--key-file', OTHER];
    const { status, stderr } = await idsmith(...args);
    expect(status).toBe(2);
    expect(stderr).toContain('give the path of a file');
    expect(stderr).not.toContain(OTHER);
  });

  it('refuses a key file that other users can read, and never shows a key', async () => {
    const files = [
      keyFile('open', SECRET, 0o644),
      keyFile('short', `1 ${SECRET.slice(2)}`),
      keyFile('twice', `1 ${SECRET}\n1 ${OTHER}`),
      keyFile('words', `1 ${SECRET} ${OTHER}`),
      keyFile('bare', `${SECRET}\n${OTHER}`),
      keyFile('empty', ''),
    ];
    const messages: string[] = [];
    for (const file of files) {
      const args = ['public', 'encode', '5', '--prefix', 'ord', '--key-file', file];
      const { status, stderr } = await idsmith(...args);
      expect([file, status]).toEqual([file, 2]);
      expect(stderr).not.toContain(SECRET.slice(2, 12));
      messages.push(stderr);
    }
    expect(messages[0]).toContain('run chmod 600');
    expect(messages[1]).toContain('key 1 must be 32 bytes');
    expect(messages[2]).toContain('line 2: key id 1 comes a second time');
    expect(messages[3]).toContain('line 1: must be a key id and a key');
    expect(messages[4]).toContain('line 1: must be a key id and a key');
    expect(messages[5]).toContain('has no key: make one');
  });
});

describe('idsmith inspect with --key-file', () => {
  const short = publicIds({ prefix: 'inv', keys: { 1: SECRET }, short: true });
  const users = publicIds({ prefix: 'usr', keys: { 2: OTHER }, of: 'uuid' });
  const UUID = '019b7c4e-94ce-7ba1-9d1c-21f1a6a6c9e8';

  it('shows the ids inside public ids of any prefix and form', async () => {
    const texts = [orders.encode(5n), short.encode(7n), users.encode(UUID)];
    const { status, stdout } = await idsmith('inspect', ...texts, '10001', '--key-file', two, '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { id: texts[0], family: 'public', prefix: 'ord', keyId: 1, inside: '5' },
      { id: texts[1], family: 'public', prefix: 'inv', form: 'short', inside: '7' },
      { id: texts[2], family: 'public', prefix: 'usr', keyId: 2, inside: UUID },
      { id: '10001', family: 'sequence' },
    ]);
    const { lines } = await idsmith('inspect', texts[0]!, '--key-file', one);
    expect(lines).toContain('id inside       5');
  });

  it('shows no id for a text that was changed, or whose key is not in the file', async () => {
    const changed = orders.encode(5n).replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const { stdout } = await idsmith('inspect', changed, users.encode(UUID), '--key-file', one, '--json');
    const readings = JSON.parse(stdout);
    expect(readings.map(({ inside }: { inside?: string }) => inside)).toEqual([undefined, undefined]);
    expect(readings[0].reason).toContain('none of the keys has made it');
  });

  it('refuses a file that holds no key, and shows no id', async () => {
    const { status, stdout, stderr } = await idsmith(
      'inspect',
      '5',
      '--key-file',
      keyFile('bad', 'not a key'),
    );
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).not.toContain('not a key');
  });
});
