import { refuse } from '../options.js';
import {
  call,
  type Foreign,
  firstRows,
  givesRows,
  hasMethods,
  isForeign,
  type Recogniser,
  rowsIn,
  withPlaceholders,
} from './driver.js';
import type { SqlAdapter, SqlDialect } from './port.js';

/** The dialects by the names that ORMs have for them. */
const DIALECTS: Record<string, SqlDialect> = {
  postgres: 'postgres',
  postgresql: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
  sqlite: 'sqlite',
  sqlite3: 'sqlite',
  'better-sqlite3': 'sqlite',
  libsql: 'sqlite',
};

/** @throws InvalidOptionError when the ORM is on another database */
function dialectOf(orm: string, name: unknown): SqlDialect {
  const dialect = typeof name === 'string' && Object.hasOwn(DIALECTS, name) ? DIALECTS[name] : undefined;
  if (dialect !== undefined) return dialect;
  return refuse(`the database of ${orm}`, 'PostgreSQL, MySQL, MariaDB or SQLite', name);
}

const DRIZZLE_KIND = Symbol.for('drizzle:entityKind');
const DRIZZLE_DIALECTS: Record<string, SqlDialect> = {
  PgDatabase: 'postgres',
  MySqlDatabase: 'mysql',
  BaseSQLiteDatabase: 'sqlite',
};

/** Drizzle: the `tx` of `db.transaction(async (tx) => …)`. */
export const drizzle: Recogniser = (tx) => {
  const kinds = drizzleKinds(tx);
  if (kinds.length === 0) return undefined;
  const has = (kind: string) => kinds.includes(kind);
  const isTransaction = kinds.some((kind) => kind.endsWith('Transaction'));
  const statement = (sql: string, params: readonly unknown[]) => {
    const built = { getSQL: () => built, toQuery: () => ({ sql, params: [...params] }) };
    return built;
  };
  const query: SqlAdapter['query'] = has('BaseSQLiteDatabase')
    ? async (text, values) => rowsIn(await call(tx, givesRows(text) ? 'all' : 'run', statement(text, values)))
    : async (text, values) => {
        const answer = await call(tx, 'execute', statement(text, values));
        return has('MySqlDatabase') && Array.isArray(answer) ? firstRows(answer) : [...rowsIn(answer)];
      };
  const known = Object.keys(DRIZZLE_DIALECTS).find(has);
  const dialect = dialectOf('Drizzle', known && DRIZZLE_DIALECTS[known]);
  return { dialect, query, inTransaction: () => isTransaction };
};

/** The names that Drizzle gives to the class of an object and the classes above it. */
function drizzleKinds(object: Foreign): string[] {
  const kinds: string[] = [];
  let type: unknown = object.constructor;
  while (typeof type === 'function') {
    if (Object.hasOwn(type, DRIZZLE_KIND)) kinds.push(String((type as unknown as Foreign)[DRIZZLE_KIND]));
    type = Object.getPrototypeOf(type);
  }
  return kinds;
}

/** Kysely: the `trx` of `db.transaction().execute(async (trx) => …)`, or a controlled transaction. */
export const kysely: Recogniser = (trx) => {
  if (!hasMethods(trx, 'getExecutor', 'executeQuery')) return undefined;
  const { adapter: features } = call(trx, 'getExecutor') as { adapter?: Foreign };
  const query: SqlAdapter['query'] = async (sql, values) => {
    const node = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
    const compiled = { sql, parameters: [...values], query: node, queryId: { queryId: crypto.randomUUID() } };
    return rowsIn(await call(trx, 'executeQuery', compiled));
  };
  const dialect = dialectOf('Kysely', kyselyDialect(features));
  return { dialect, query, inTransaction: () => trx.isTransaction === true };
};

/** The dialect by what the database can do. Names of classes do not survive every bundler. */
function kyselyDialect(features: Foreign | undefined): SqlDialect | undefined {
  if (features === undefined || features.supportsOutput) return undefined;
  if (!features.supportsReturning) return 'mysql';
  return features.supportsTransactionalDdl ? 'postgres' : 'sqlite';
}

/** Knex: the `trx` of `knex.transaction(async (trx) => …)`. */
export const knex: Recogniser = (trx) => {
  if (!hasMethods(trx, 'raw') || !isForeign(trx.client)) return undefined;
  const dialect = dialectOf('Knex', trx.client.dialect);
  const query: SqlAdapter['query'] = async (text, values) => {
    const bindings: unknown[] = [];
    const place = (n: number) => {
      bindings.push(values[n - 1]);
      return '?';
    };
    // Knex takes the backslash away only here. Elsewhere it counts every question mark, and fails.
    const quoted = (part: string) => (dialect === 'postgres' ? part.replaceAll('?', '\\?') : part);
    const sent = withPlaceholders(text, dialect, place, quoted);
    const answer = await call(trx, 'raw', sent, bindings);
    return dialect === 'mysql' ? firstRows(answer) : rowsIn(answer);
  };
  const isOpen = () => trx.isTransaction === true && call(trx, 'isCompleted') !== true;
  return { dialect, query, inTransaction: isOpen };
};

/** TypeORM: the `manager` of `dataSource.transaction(async (manager) => …)`, or a query runner. */
export const typeorm: Recogniser = (object) => {
  const isRunner = hasMethods(object, 'startTransaction', 'query') && 'isTransactionActive' in object;
  const isManager = hasMethods(object, 'query', 'getRepository', 'createQueryBuilder');
  // The source is the object itself, or a member that was renamed.
  const [source] = [object, object.dataSource, object.connection].filter(hasOptions);
  if (source === undefined || !(isRunner || isManager)) return undefined;
  const runner = (isRunner ? object : object.queryRunner) as Foreign | undefined;
  const query: SqlAdapter['query'] = async (text, values) => {
    if (runner === undefined) return rowsIn(await call(object, 'query', text, [...values]));
    const { records } = (await call(runner, 'query', text, [...values], true)) as { records?: unknown[] };
    return records ?? [];
  };
  const dialect = dialectOf('TypeORM', source.options.type);
  return { dialect, query, inTransaction: () => runner?.isTransactionActive === true };
};

const hasOptions = (value: unknown): value is { options: Foreign } =>
  isForeign(value) && isForeign(value.options) && typeof value.options.type === 'string';

/** Sequelize: the transaction of `sequelize.transaction(async (transaction) => …)`. */
export const sequelize: Recogniser = (transaction) => {
  if (!hasMethods(transaction, 'commit', 'rollback')) return undefined;
  const { sequelize } = transaction;
  if (!hasMethods(sequelize, 'query', 'getDialect')) return undefined;
  const dialect = dialectOf('Sequelize', call(sequelize, 'getDialect'));
  const placed = (text: string) =>
    withPlaceholders(
      text,
      dialect,
      (n) => `$${n}`,
      (part) => part.replaceAll('$', '$$$$'),
    );
  const query: SqlAdapter['query'] = async (text, values) => {
    const type = givesRows(text) ? 'SELECT' : 'RAW';
    const options = { type, transaction, raw: true, plain: false, nest: false };
    // Without values, Sequelize sends the statement as it is.
    const sent = values.length > 0 ? { query: placed(text), bind: [...values] } : text;
    const answer = await call(sequelize, 'query', sent, options);
    return type === 'SELECT' ? rowsIn(answer) : [];
  };
  return { dialect, query, inTransaction: () => transaction.finished === undefined };
};

const PRISMA_MARKS = ['id', 'scope_context'].map((name) => Symbol.for(`prisma.client.transaction.${name}`));

/** Prisma: the `tx` of `prisma.$transaction(async (tx) => …)`. */
export const prisma: Recogniser = (tx) => {
  if (!hasMethods(tx, '$queryRawUnsafe', '$executeRawUnsafe')) return undefined;
  const isTransaction = !hasMethods(tx, '$connect') || PRISMA_MARKS.some((mark) => tx[mark] !== undefined);
  const query: SqlAdapter['query'] = async (text, values) => {
    if (givesRows(text)) return rowsIn(await call(tx, '$queryRawUnsafe', text, ...values));
    await call(tx, '$executeRawUnsafe', text, ...values);
    return [];
  };
  const dialect = dialectOf('Prisma', tx._activeProvider);
  return { dialect, query, inTransaction: () => isTransaction, isBound: isTransaction };
};
