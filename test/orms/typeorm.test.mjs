import Libsql from 'libsql';
import { DataSource, EntitySchema } from 'typeorm';
import { cases } from './cases.mjs';

// TypeORM gives 64-bit numbers as text; the transformer makes bigints of them.
const exactly = { to: (id) => id?.toString(), from: (text) => BigInt(text) };

const invoiceWith = (uuid, bigint = 'bigint', transformer = exactly) =>
  new EntitySchema({
    name: 'invoice',
    tableName: 'invoices',
    columns: {
      id: { type: bigint, primary: true, transformer },
      ref: { type: uuid },
      ticket: { type: bigint, transformer },
      number: { type: bigint, transformer },
    },
  });

const ways = async (options, entity) => {
  const source = await new DataSource({ ...options, entities: [entity] }).initialize();
  return {
    transaction: (work) => source.transaction(work),
    savepoint: (manager, work) => manager.transaction(work),
    same: (manager) => manager.queryRunner,
    alike: async ({ queryRunner }) => [queryRunner, await queryRunner.connect()],
    insert: (manager, row) => manager.insert(entity, row),
    rows: () => source.manager.find(entity),
    outside: () => [source.manager, source, source.createQueryRunner()],
    close: () => source.destroy(),
  };
};

cases('TypeORM', 'postgres', ({ url }) => ways({ type: 'postgres', url }, invoiceWith('uuid')));

cases('TypeORM', 'mariadb', ({ url }) =>
  ways({ type: 'mariadb', url, supportBigNumbers: true, bigNumberStrings: true }, invoiceWith('char')),
);

cases('TypeORM', 'sqlite', ({ file }) =>
  ways(
    {
      type: 'better-sqlite3',
      database: file,
      driver: Libsql,
      prepareDatabase: (db) => db.defaultSafeIntegers(true),
    },
    invoiceWith('varchar', 'integer', { to: (id) => id, from: BigInt }),
  ),
);
