import { initStore } from '../stores/init.js';
import type { Store } from '../stores/store.js';
import { schemeOf } from '../stores/url.js';
import type { Command, Given } from './command.js';
import { confirm } from './input.js';
import { refuseServer, requireStoreUrl, storeFlags, withStore } from './store.js';
import { jsonText } from './text.js';

export const initCommand: Command = {
  name: 'init',
  usage: '--store URL [--print] [--yes]',
  summary: 'Say that a store is new, and make its tables',
  example: 'idsmith init --store redis://localhost:6379',
  flags: {
    ...storeFlags('the new store'),
    print: { type: 'boolean', help: 'print what an administrator would run, and do nothing' },
    yes: { type: 'boolean', help: 'do not ask, even if the store was used before' },
  },
  run(given) {
    const { url } = requireStoreUrl(given);
    refuseServer(url, 'init');
    if (given.on('print')) return printed(url, given);
    return withStore(given, true, (store) => init(store, given));
  },
};

async function* init(store: Store, given: Given): AsyncIterable<string> {
  const sequences = (await store.listSequences()).map(({ name }) => name);
  const namespaces = (await store.namespaces?.()) ?? [];
  const isDoubted = (await store.areNamesDoubted?.()) ?? false;
  // A store without sequences has no numbers that could come again. One that knows of a loss may have lost them all.
  if (sequences.length > 0 || (isDoubted && store.durable !== false))
    await confirm(
      given,
      `the store is not new (sequences: ${sequences.length}${isDoubted ? ', and it knows of a loss' : ''}). If it has lost data, run ` +
        'npx idsmith restored --store URL instead. If nothing is missing, go on',
    );
  await initStore(store);
  if (given.on('json')) yield jsonText({ sequences, namespaces, isNew: true }, 2);
  else {
    yield 'the store is ready: its tables or its registry are made';
    if (store.durable === false)
      yield 'the store is marked as new: the first lease waits for nothing, and sequences can be defined';
    else if (isDoubted) yield 'sequences that it does not have are new: they begin at their start';
  }
}

/** What an administrator runs in the place of this command. */
async function* printed(url: string, given: Given): AsyncIterable<string> {
  const statements = await statementsOf(url);
  if (given.on('json')) yield jsonText({ statements }, 2);
  else yield* statements;
}

const RIGHTS = 'SELECT, INSERT, UPDATE, DELETE';

async function statementsOf(url: string): Promise<string[]> {
  const scheme = schemeOf(url);
  if (/^postgres(ql)?$/.test(scheme)) {
    const { postgresTables } = await import('../stores/postgres/tables.js');
    return [
      ...postgresTables().map(ended),
      '-- The columns that an id_sequences table of another program lacks.',
      ended(await additionsTo('postgres')),
      '-- The programs need no more rights than these. Replace the name of the role.',
      `GRANT ${RIGHTS} ON idsmith_leases, id_sequences, idsmith_pasts TO app;`,
    ];
  }
  if (/^(mysql|mariadb)$/.test(scheme)) {
    const { mysqlTables } = await import('../stores/mysql/tables.js');
    return [
      ...mysqlTables().map(ended),
      '-- The columns that an id_sequences table of another program lacks. On MySQL, leave IF NOT EXISTS out, and the columns that are there.',
      ended(await additionsTo('mysql')),
      '-- The programs need no more rights than these. Replace the name of the user.',
      ...['idsmith_leases', 'id_sequences', 'idsmith_pasts'].map(
        (table) => `GRANT ${RIGHTS} ON ${table} TO app;`,
      ),
      'GRANT SELECT ON idsmith_schema TO app;',
    ];
  }
  if (scheme === 'sqlite') return (await import('../stores/sqlite/tables.js')).sqliteTables().map(ended);
  if (scheme.startsWith('redis'))
    return [
      'ACL SETUSER app on >PASSWORD ~idsmith:* +@read +@write +@scripting +info +time +ping +select',
      'idsmith init --store URL',
    ];
  return ['idsmith init --store URL'];
}

/** The statement that adds the missing columns to an `id_sequences` table of another program. */
async function additionsTo(database: 'postgres' | 'mysql'): Promise<string> {
  const { additions } = await import('../stores/sql/table.js');
  const dialects = await import('../stores/sql/dialect.js');
  const clauses = additions([], dialects[database].types);
  return `ALTER TABLE id_sequences ${clauses.join(', ')}`.replaceAll(
    'ADD COLUMN ',
    'ADD COLUMN IF NOT EXISTS ',
  );
}

const ended = (statement: string) => `${statement};`;
