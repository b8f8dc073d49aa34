import { DataTypes, Sequelize } from 'sequelize';
import { cases } from './cases.mjs';

const exactly = (row) => ({
  id: BigInt(row.id),
  ref: row.ref,
  ticket: BigInt(row.ticket),
  number: BigInt(row.number),
});

const ways = (url, options, uuid) => {
  const sequelize = new Sequelize(url, { logging: false, ...options });
  const Invoice = sequelize.define(
    'invoices',
    {
      id: { type: DataTypes.BIGINT, primaryKey: true },
      ref: { type: uuid, allowNull: false },
      ticket: { type: DataTypes.BIGINT, allowNull: false },
      number: { type: DataTypes.BIGINT, allowNull: false },
    },
    { timestamps: false },
  );
  return {
    transaction: (work) => sequelize.transaction(work),
    savepoint: (transaction, work) => sequelize.transaction({ transaction }, work),
    insert: (transaction, row) => Invoice.create(row, { transaction }),
    rows: async () => (await Invoice.findAll()).map(exactly),
    outside: () => [sequelize],
    close: () => sequelize.close(),
  };
};

cases('Sequelize', 'postgres', async ({ url }) => ways(url, {}, DataTypes.UUID));

cases('Sequelize', 'mariadb', async ({ url }) =>
  ways(
    url,
    { dialect: 'mysql', dialectOptions: { supportBigNumbers: true, bigNumberStrings: true } },
    DataTypes.CHAR(36),
  ),
);

cases('Sequelize with mariadb', 'mariadb', async ({ url }) =>
  ways(
    url.replace(/^mysql/, 'mariadb'),
    { dialect: 'mariadb', dialectOptions: { supportBigNumbers: true, bigNumberStrings: true } },
    DataTypes.CHAR(36),
  ),
);
