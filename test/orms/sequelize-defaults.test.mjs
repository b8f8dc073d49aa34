import { uuid7 } from 'idsmith/uuid7';
import { DataTypes, Sequelize } from 'sequelize';
import { expect } from 'vitest';
import { defaultCases } from './default-cases.mjs';

// Sequelize's SQLite needs the package sqlite3, which downloads its program when it is installed.

const bigintColumn = (name, options) => ({
  type: DataTypes.BIGINT,
  allowNull: false,
  get() {
    const value = this.getDataValue(name);
    return value == null ? value : BigInt(value);
  },
  ...options,
});

const ways = (url, options, uuid, { flakes, codes, tickets }) => {
  const sequelize = new Sequelize(url, { logging: false, ...options });
  const Order = sequelize.define(
    'orders',
    {
      id: bigintColumn('id', { primaryKey: true, defaultValue: () => flakes.next() }),
      ref: { type: uuid, allowNull: false, defaultValue: () => uuid7() },
      code: { type: DataTypes.STRING(40), allowNull: false, defaultValue: () => codes.next() },
      ticket: bigintColumn('ticket'),
      note: DataTypes.STRING(100),
    },
    { timestamps: false },
  );
  Order.addHook('beforeValidate', async (order) => {
    if (order.isNewRecord) order.ticket ??= await tickets.next();
  });
  Order.addHook('beforeBulkCreate', async (orders) => {
    const numbers = await tickets.batch(orders.length);
    for (const [i, order] of orders.entries()) order.ticket ??= numbers[i];
  });
  return {
    Order,
    create: (order, transaction) => Order.create(order, { transaction }),
    createMany: (orders) => Order.bulkCreate(orders),
    transaction: (work) => sequelize.transaction(work),
    rows: () => Order.findAll(),
    close: () => sequelize.close(),
  };
};

const more = {
  async 'finds a row by its bigint, and saves it without other ids'({ db: { Order }, rows }) {
    const [first] = await rows();
    const order = await Order.findByPk(first.id);
    await order.update({ note: 'changed' });
    expect((await rows())[0]).toEqual({ ...first, note: 'changed' });
  },
  async 'gives findOrCreate and upsert their ids'({ db: { Order }, rows }) {
    const [found, isNew] = await Order.findOrCreate({ where: { note: 'found or created' } });
    expect(isNew).toBe(true);
    await Order.upsert({ note: 'upserted' });
    const all = await rows();
    expect(all.find(({ id }) => id === found.id)).toMatchObject({ note: 'found or created' });
    expect(all.map(({ note }) => note)).toContain('upserted');
  },
};

defaultCases(
  'Sequelize',
  'postgres',
  async ({ url }, generators) => ways(url, {}, DataTypes.UUID, generators),
  more,
);

const dialectOptions = { supportBigNumbers: true, bigNumberStrings: true };
defaultCases(
  'Sequelize',
  'mariadb',
  async ({ url }, generators) =>
    ways(url, { dialect: 'mysql', dialectOptions }, DataTypes.CHAR(36), generators),
  more,
);
