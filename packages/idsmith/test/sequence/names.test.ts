import {
  InvalidOptionError,
  memoryStore,
  NoSuchSequenceError,
  SequenceExistsError,
  Sequences,
} from 'idsmith';
import Libsql from 'libsql';
import { describe, expect, it } from 'vitest';
import { acquireLease } from '../../src/lease/lease.ts';
import { sqliteStore } from '../../src/stores/sqlite/store.ts';

const CONFUSING = [
  '.',
  '..',
  'a\u200bb',
  'a\u200db',
  'a\u202eb',
  'a\u2066b',
  'a\u061cb',
  'a\u00adb',
  'a\u2028b',
  'a\u2060',
  'a\u00a0b',
  'a\u3000b',
  'a\u3164b',
  'a\ufe0f',
  'a\u{e0041}b',
  'a\u115fb',
];

describe('A name that people cannot read', () => {
  it.each(CONFUSING)('is refused for a new sequence, and shown: %j', async (name) => {
    const store = memoryStore();
    const failure = await store.defineSequence({ name }).catch((error) => error);
    expect(failure).toBeInstanceOf(InvalidOptionError);
    expect(failure.message).toMatch(/^the name of a new sequence must be text without invisible .*, not "/);
    if (!name.startsWith('.')) {
      expect(failure.message).toMatch(/"a<U\+[0-9A-F]{4,5}>b?"$/);
      expect(failure.message).not.toMatch(/[^\x20-\x7e]/);
    }
    await expect(new Sequences(store).ensure(name)).rejects.toBeInstanceOf(InvalidOptionError);
    expect(await store.listSequences()).toEqual([]);
  });

  it.each(['.a', '...', 'a.b', 'ü', 'заказы', '注文', '🔑', 'a b', 'ids/2026', '%2e', 'e\u0301'])(
    'is not %j',
    async (name) => {
      const store = memoryStore();
      await store.defineSequence({ name });
      expect(await store.describeSequence(name)).toMatchObject({ name });
    },
  );

  it.each(CONFUSING)('that a sequence has from before stays usable: %j', async (name) => {
    const db = new Libsql(':memory:');
    const store = sqliteStore(db);
    await store.listSequences();
    db.prepare('INSERT INTO id_sequences (name, next_block_start, block_size) VALUES (?, 1, 20)').run(name);
    expect((await store.listSequences()).map((info) => info.name)).toEqual([name]);
    expect(await store.describeSequence(name)).toMatchObject({ name, next: 1n });
    const sequence = await new Sequences(store).get(name);
    expect(await sequence.next()).toBe(1n);
    await sequence.close();
    await store.alterSequence(name, { blockSize: 5 });
    await expect(store.defineSequence({ name })).rejects.toBeInstanceOf(SequenceExistsError);
    await store.removeSequence(name);
    await expect(store.describeSequence(name)).rejects.toBeInstanceOf(NoSuchSequenceError);
    await store.close();
  });
});

it.each(['a\0b', 'a\ud800', '\udc00b'])('The label %j of a lease is refused', async (label) => {
  const acquiring = acquireLease(memoryStore(), { namespace: 'x', size: 2, label });
  await expect(acquiring).rejects.toThrow(
    'label must be well-formed text of up to 255 characters without NUL',
  );
});
