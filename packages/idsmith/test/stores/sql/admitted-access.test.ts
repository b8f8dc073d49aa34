import { describe, expect, it } from 'vitest';
import type { SqlAccess } from '../../../src/stores/sql/access.ts';
import { admittedAccess } from '../../../src/stores/sql/admitted-access.ts';

/** An access that writes down what reaches it. */
function recorded() {
  const sent: string[] = [];
  const outside: SqlAccess['outside'] = {
    dialect: 'postgres',
    query: async (text) => {
      sent.push(text);
      return [];
    },
    inTransaction: async () => false,
  };
  const access: SqlAccess = {
    outside,
    transact: (work) => {
      sent.push('BEGIN');
      return work(outside);
    },
  };
  return { sent, access };
}

describe('The access of series to a database', () => {
  it('sends nothing to a store that needs a later library', async () => {
    const { sent, access } = recorded();
    const refused = admittedAccess(access, async () => {
      throw new Error('too old');
    });
    await expect(refused?.outside.query('SELECT 1')).rejects.toThrow('too old');
    await expect(refused?.transact((sql) => sql.query('SELECT 2'))).rejects.toThrow('too old');
    expect(sent).toEqual([]);
  });

  it('sends everything else as it is', async () => {
    const { sent, access } = recorded();
    const admitted = admittedAccess(access, async () => sent.push('admitted'));
    await admitted?.outside.query('SELECT 1');
    await admitted?.transact((sql) => sql.query('SELECT 2'));
    expect(sent).toEqual(['admitted', 'SELECT 1', 'admitted', 'BEGIN', 'SELECT 2']);
    expect(admitted?.outside.dialect).toBe('postgres');
    expect(await admitted?.outside.inTransaction()).toBe(false);
  });
});
