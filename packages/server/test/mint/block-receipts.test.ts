import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Block, memoryStore, type Store } from 'idsmith';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { httpStore } from '../../../idsmith/src/stores/http/store.ts';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { createToken } from '../../src/index.ts';
import { Rogue } from '../support/rogue.ts';
import { TestServer } from '../support/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-hostile-'));
const tokens = join(folder, 'tokens.json');
let honestToken: string;
let rogueToken: string;
let names = 0;

beforeAll(async () => {
  honestToken = await createToken(tokens, { name: 'honest', scopes: ['lease', 'admin'] });
  rogueToken = await createToken(tokens, { name: 'rogue', scopes: ['lease'] });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('A lease token in hostile hands, against sequences', () => {
  let server: TestServer;
  let store: Store;
  let rogue: Rogue;
  let name: string;

  beforeAll(async () => {
    server = await TestServer.start({ tokens });
    store = httpStore(server.url, { token: honestToken });
    rogue = new Rogue(server, rogueToken);
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    name = `hostile-${names++}`;
    await store.defineSequence({ name, start: 1, blockSize: 10 });
  });

  const nextId = async () => (await store.describeSequence(name)).next;
  const idsOf = ({ first, step, count }: Block) =>
    Array.from({ length: count }, (_, i) => first + BigInt(i * step));

  it('gives back no more than it took last, so that nobody’s ids come twice', async () => {
    const ids = idsOf(await store.allocate(name, 2));
    const mine = await rogue.take(name);
    expect(mine).toMatchObject({ first: '21', count: 10 });
    for (const tail of [
      { ...mine, first: '1', count: 30 },
      { ...mine, first: '-69', count: 100 },
      { ...mine, first: '11', count: 20 },
      { ...mine, first: '20', count: 11 },
      { ...mine, first: '32', step: -1, count: 1 },
      { ...mine, first: '21', step: 5, count: 2 },
      { ...mine, first: '11', count: 10 },
    ])
      expect(await rogue.tail(name, tail), JSON.stringify(tail)).not.toBe(true);
    expect(await nextId()).toBe(31n);
    ids.push(...idsOf(await store.allocate(name, 5)));
    expect(repeated(ids.map(String))).toEqual([]);
  });

  it('gives back nothing without the receipt of the run', async () => {
    await rogue.take(name);
    await store.allocate(name, 1);
    const { origin: stale } = await rogue.take(name);
    await store.allocate(name, 1);
    // The run of the honest caller was the last: it ends where the sequence stands.
    for (const origin of [stale, undefined, 0, 1, stale + 1])
      expect(await rogue.tail(name, { first: '36', step: 1, count: 5, origin })).toBe(false);
    expect(await nextId()).toBe(41n);
  });

  it('gives a run back once, though the same place comes again', async () => {
    const mine = await rogue.take(name);
    const tail = { ...mine, first: '6', count: 5 };
    expect(await rogue.tail(name, tail)).toBe(true);
    await store.alterSequence(name, { blockSize: 5 });
    const ids = idsOf(await store.allocate(name, 1));
    expect(ids).toEqual([6n, 7n, 8n, 9n, 10n]);
    expect(await rogue.tail(name, tail)).toBe(false);
    ids.push(...idsOf(await store.allocate(name, 1)));
    expect(repeated(ids.map(String))).toEqual([]);
  });

  it('gives back to no other sequence, and none of a sequence that was removed', async () => {
    const mine = await rogue.take(name);
    const other = `${name}-other`;
    await store.defineSequence({ name: other, blockSize: 10 });
    await store.allocate(other, 1);
    expect(await rogue.tail(other, mine)).toBe(false);
    const again = await rogue.take(name);
    await store.removeSequence(name);
    await store.defineSequence({ name, blockSize: 20 });
    await store.allocate(name, 1);
    expect(await rogue.tail(name, again)).toBe(false);
    expect(await nextId()).toBe(21n);
  });

  it('leaves a gap where another server is asked to take a run back', async () => {
    const inner = memoryStore();
    await inner.defineSequence({ name, blockSize: 10 });
    const [one, two] = [await TestServer.start({ tokens }, inner), await TestServer.start({ tokens }, inner)];
    const block = await httpStore(one.url, { token: honestToken }).allocate(name, 1);
    expect(await httpStore(two.url, { token: honestToken }).giveBack!(name, block)).toBe(false);
    expect(await httpStore(one.url, { token: honestToken }).giveBack!(name, block)).toBe(true);
    expect((await inner.describeSequence(name)).next).toBe(1n);
    await one.stop();
    await two.stop();
  });
});
