import { memoryStore } from 'idsmith';
import type { SqlAdapter } from 'idsmith/sql';
import { series } from 'idsmith/sql';
import { openStore } from 'idsmith/stores';
import { describe, expect, it } from 'vitest';
import { PostgresSession } from '../../../src/stores/postgres/session.ts';
import { SqlLineage } from '../../../src/stores/sql/lineage.ts';
import { driverOf } from '../../../src/stores/sql/session.ts';

/** The session of an adapter that writes down what reaches it. */
function recorded() {
  const sent: string[] = [];
  const adapter: SqlAdapter = {
    dialect: 'postgres',
    query: async (text) => {
      sent.push(text);
      return [];
    },
    inTransaction: () => false,
    transaction: async (work) => {
      sent.push('BEGIN');
      await work(adapter);
    },
  };
  return { sent, session: new PostgresSession(driverOf(adapter, 'postgres', [], ''), 10_000) };
}

describe('The access of series to a database', () => {
  it('sends nothing to a store that needs a later library', async () => {
    const { sent, session } = recorded();
    const refused = session.access(async () => {
      throw new Error('too old');
    }, new SqlLineage());
    await expect(refused?.outside.query('SELECT 1')).rejects.toThrow('too old');
    await expect(refused?.transact((sql) => sql.query('SELECT 2'))).rejects.toThrow('too old');
    expect(sent).toEqual([]);
  });

  it('sends everything else as it is', async () => {
    const { sent, session } = recorded();
    const admitted = session.access(async () => sent.push('admitted'), new SqlLineage(() => 'now()'));
    expect(admitted?.lineage).toBe('now()');
    await admitted?.outside.query('SELECT 1');
    await admitted?.transact((sql) => sql.query('SELECT 2'));
    expect(sent).toEqual(['admitted', 'SELECT 1', 'admitted', 'BEGIN', 'SELECT 2']);
    expect(admitted?.outside.dialect).toBe('postgres');
    expect(await admitted?.outside.inTransaction()).toBe(false);
  });

  it('is kept by every wrapper of the store', async () => {
    const store = await openStore('sqlite::memory:');
    const wrappers = [{ ...store }, new Proxy(store, {}), Object.assign(Object.create(store), {})];
    for (const [i, wrapper] of wrappers.entries()) {
      const logged = series(`wrapped ${i}`, { format: '{n}', audit: true, store: wrapper });
      expect([await logged.next(), (await logged.list()).length]).toEqual(['1', 1]);
    }
    expect(memoryStore()).not.toHaveProperty('sql');
    await store.close();
  });
});
