import { refuse, show } from '../options.js';
import type { SqlAdapter, SqlExecutor } from './port.js';
import { askTransaction } from './transaction.js';

/** The executor of an adapter: checks the adapter's answers, and asks the database whether a transaction is open. */
export function checkedExecutor(adapter: SqlAdapter): SqlExecutor {
  const { dialect } = adapter;
  if (!Object.hasOwn(askTransaction, dialect))
    refuse('dialect', Object.keys(askTransaction).map(show).join(' or '), dialect);
  const query: SqlExecutor['query'] = async (text, values = []) => {
    const rows = await adapter.query(text, values);
    if (!Array.isArray(rows)) refuse('the answer of query()', 'a list of rows', rows);
    return rows;
  };
  return {
    dialect,
    query,
    inTransaction: async () => {
      const isPossible = (await adapter.inTransaction?.()) ?? true;
      return isPossible && askTransaction[dialect](query);
    },
  };
}
