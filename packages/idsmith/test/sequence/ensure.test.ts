import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidOptionError, memoryStore, SequenceExistsError, Sequences, type Store } from 'idsmith';
import Libsql from 'libsql';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../src/stores/open.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-ensure-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

describe.each<[string, () => Promise<Store>]>([
  ['memory', async () => memoryStore()],
  ['sqlite', () => openStore(`sqlite:${join(folder, `${files++}.db`)}`)],
])('ensure on %s', (_name, open) => {
  let store: Store;
  let sequences: Sequences;
  beforeEach(async () => {
    store = await open();
    sequences = new Sequences(store);
  });
  afterEach(() => store.close());

  it('defines a sequence that is missing', async () => {
    const info = await sequences.ensure('orders', { start: 10_000, blockSize: 5 });
    expect(info).toMatchObject({ name: 'orders', start: 10_000n, next: 10_000n, blockSize: 5 });
    expect(await (await sequences.get('orders')).next()).toBe(10_000n);
  });

  it('accepts the same definition again, at any place of the sequence', async () => {
    await sequences.define('orders', { start: 10_000n, step: -2, min: 0, cycle: true });
    await store.allocate('orders', 1);
    const info = await sequences.ensure('orders', { start: 10_000, step: -2, min: 0n, cycle: true });
    expect(info).toEqual(await sequences.describe('orders'));
    expect(info.next).toBe(9960n);
  });

  it('accepts a sequence that was lost and is defined again, which must begin beyond its numbers', async () => {
    await expect(sequences.define('orders', { lost: true })).rejects.toThrow(
      'beyond all that the lost sequence',
    );
    await sequences.define('orders', { lost: true, start: 5001 });
    expect(await sequences.ensure('orders')).toMatchObject({ start: undefined, next: 5001n });
    expect(await (await sequences.get('orders')).next()).toBe(5001n);
  });

  it.each([
    [{ start: 2 }, 'next 1, before start 2'],
    [{ step: 2 }, 'step 1 instead of 2'],
    [{ step: -1 }, 'step 1 instead of -1'],
    [{ min: 0 }, 'min -9223372036854775808 instead of 0'],
    [{ max: 100 }, 'max 9223372036854775807 instead of 100'],
    [{ cycle: true }, 'cycle false instead of true, min -9223372036854775808 instead of 1'],
  ])('refuses %o for a sequence of the defaults, and shows what differs alone', async (options, differs) => {
    await sequences.ensure('orders');
    const error = await sequences.ensure('orders', options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SequenceExistsError);
    expect((error as Error).message).toBe(
      `sequence "orders" exists with ${differs}: define it as it is, or alter it`,
    );
  });

  it('leaves a sequence that an operator has altered as it is', async () => {
    await sequences.ensure('orders', { start: 10, max: 1000 });
    await sequences.alter('orders', { blockSize: 50, next: 200, max: 900 });
    expect(await sequences.ensure('orders', { start: 10, max: 1000 })).toMatchObject({
      blockSize: 50,
      next: 200n,
      max: 900n,
    });
    // A sequence that has begun earlier and is beyond the start by now keeps the promise.
    expect((await sequences.ensure('orders', { start: 100, max: 1000, blockSize: 7 })).blockSize).toBe(50);
  });

  it('leaves a sequence at its end, and one that cycles, as they are', async () => {
    await sequences.ensure('small', { max: 3, blockSize: 3 });
    await (await sequences.get('small', { prefetch: 0 })).batch(3);
    expect(await sequences.ensure('small', { max: 3 })).toMatchObject({ exhausted: true });
    const round = { min: 1, start: 2, max: 4, cycle: true, blockSize: 2 };
    await sequences.ensure('round', round);
    await (await sequences.get('round', { prefetch: 0 })).batch(3);
    expect((await sequences.ensure('round', round)).cycle).toBe(true);
    await sequences.ensure('down', { start: 10, step: -1, blockSize: 2 });
    await (await sequences.get('down', { prefetch: 0 })).batch(2);
    expect((await sequences.ensure('down', { start: 10, step: -1 })).next).toBe(8n);
  });

  it('refuses a wrong option, also of a sequence that exists', async () => {
    await sequences.ensure('orders');
    await expect(sequences.ensure('orders', { step: 0 })).rejects.toThrow(InvalidOptionError);
    await expect(sequences.ensure('orders', { stepp: 1 } as never)).rejects.toThrow('did you mean "step"');
  });

  it('gives many who ask at the same time the same sequence', async () => {
    const infos = await Promise.all(
      Array.from({ length: 20 }, () => new Sequences(store).ensure('orders', { start: 5 })),
    );
    for (const info of infos) expect(info).toMatchObject({ start: 5n, next: 5n });
  });

  it('accepts a row whose start is unknown', async () => {
    await sequences.define('orders', { start: 3 });
    const describeSequence = async (name: string) => ({
      ...(await store.describeSequence(name)),
      start: undefined,
    });
    const foreign = new Sequences({ ...store, describeSequence });
    expect((await foreign.ensure('orders', { start: 2, blockSize: 1 })).start).toBeUndefined();
    await expect(foreign.ensure('orders', { start: 99 })).rejects.toThrow('next 3, before start 99');
  });
});

describe('ensure on a row that another program has inserted', () => {
  it('compares its next number with the start', async () => {
    const file = join(folder, 'shared.db');
    const store = await openStore(`sqlite:${file}`);
    const sequences = new Sequences(store);
    await sequences.ensure('first');
    const other = new Libsql(file);
    other.exec("INSERT INTO id_sequences (name, next_block_start, block_size) VALUES ('orders', 100, 10)");
    other.close();
    const info = await sequences.ensure('orders', { start: 7, blockSize: 10 });
    expect(info).toMatchObject({ start: undefined, next: 100n, blockSize: 10 });
    await expect(sequences.ensure('orders', { start: 107 })).rejects.toThrow('next 100, before start 107');
    await store.close();
  });
});
