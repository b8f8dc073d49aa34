import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import * as node from '../../src/runtime/cipher-node.ts';
import * as web from '../../src/runtime/cipher-web.ts';
import { vectors } from '../support/vectors.ts';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const digits = (radix: number, length: number) =>
  fc.array(fc.nat(radix - 1), { minLength: length, maxLength: length });
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');
const fromHex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

describe.each([
  ['Node', node],
  ['other runtimes', web],
])('the ciphers of %s', (_name, ciphers) => {
  it('give the answers of FIPS 197 and of SP 800-38A', () => {
    const key = fromHex('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f');
    const block = fromHex('00112233445566778899aabbccddeeff');
    const sealed = ciphers.aesBlock(key).encrypt(block);
    expect(hex(sealed)).toBe('8ea2b7ca516745bfeafc49904b496089');
    expect(hex(ciphers.aesBlock(key).decrypt(sealed))).toBe(hex(block));
  });

  it('give the answer of the FF1 sample 7 of NIST', () => {
    const key = fromHex('2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94');
    const plain = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    const sealed = ciphers.ff1(10, key).encrypt(plain);
    expect(sealed.join('')).toBe('6657667009');
    expect(ciphers.ff1(10, key).decrypt(sealed)).toEqual(plain);
  });

  it('return memory of their own at every call', () => {
    const cipher = ciphers.aesBlock(new Uint8Array(32).fill(3));
    const block = new Uint8Array(16);
    const [first, second] = [cipher.encrypt(block), cipher.encrypt(block.map(() => 1))];
    expect(hex(first)).not.toBe(hex(second));
    expect(hex(cipher.encrypt(block))).toBe(hex(first));
  });
});

it('all runtimes have the same ciphers', () => {
  fc.assert(
    fc.property(bytes(32), bytes(16), bytes(96), digits(4, 37), (key, block, message, plain) => {
      expect(hex(web.aesBlock(key).encrypt(block))).toBe(hex(node.aesBlock(key).encrypt(block)));
      expect(hex(web.aesBlock(key).decrypt(block))).toBe(hex(node.aesBlock(key).decrypt(block)));
      expect(hex(web.cbcMac(key, message))).toBe(hex(node.cbcMac(key, message)));
      expect(web.ff1(4, key).encrypt(plain)).toEqual(node.ff1(4, key).encrypt(plain));
    }),
    { numRuns: 50 },
  );
});

describe('a bundle for other runtimes', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'idsmith-public-'));
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));
  const entry = fileURLToPath(new URL('../../dist/public/index.js', import.meta.url));

  it('has no Node built-in, and makes the same public ids', async () => {
    const outfile = join(scratch, 'public.mjs');
    await build({ entryPoints: [entry], bundle: true, format: 'esm', platform: 'neutral', outfile });
    const { rows } = vectors<{ rows: object[] }>('public-ids');
    const program = `import { publicIds } from ${JSON.stringify(outfile)};
      for (const { of, short = false, key, keyId, prefix, id, text } of ${JSON.stringify(rows)}) {
        const ids = publicIds({ prefix, keys: { [keyId]: key }, of, short });
        if (ids.encode(id) !== text || String(ids.decode(text)) !== id) throw new Error(text);
      }
      console.log('same');`;
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    expect(said).toBe('same\n');
  });
});
