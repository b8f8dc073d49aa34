import { gapless, sqlExecutor } from 'idsmith/sql';
import { describe, expect, it } from 'vitest';

const broken = new Error('the connection is broken');

/** An adapter whose connection breaks at the `nth` statement. */
function breakingAt(dialect: 'postgres' | 'mysql' | 'sqlite', nth: number) {
  const sent: string[] = [];
  const query = async (text: string) => {
    if (sent.push(text) === nth) throw broken;
    return [];
  };
  return { sent, adapter: { dialect, query } };
}

describe('A connection that breaks while it is asked for its transaction', () => {
  it.each([
    ['postgres', 1],
    ['postgres', 2],
    ['mysql', 1],
    ['mysql', 2],
    ['mysql', 3],
    ['sqlite', 1],
    ['sqlite', 2],
  ] as const)('is no answer, and nothing else is sent: %s, statement %d', async (dialect, nth) => {
    const { sent, adapter } = breakingAt(dialect, nth);
    await expect(sqlExecutor(adapter).inTransaction()).rejects.toBe(broken);
    expect(sent).toHaveLength(nth);
  });
});

describe('An EntityManager of MikroORM', () => {
  it('outside a transaction is refused with the way to one', () => {
    const manager = { getTransactionContext: () => undefined, isInTransaction: () => false };
    expect(() => sqlExecutor(manager)).toThrow('Take the one that em.transactional() gives you');
    return expect(gapless('x', manager)).rejects.toThrow('transaction must be open');
  });

  it('inside a transaction stands for the connection of the transaction', () => {
    const context = { dialect: 'postgres', query: async () => [] };
    const manager = { getTransactionContext: () => context, isInTransaction: () => true };
    expect(sqlExecutor(manager)).toBe(sqlExecutor(context));
  });
});
