import { PrismaLibSql } from '@prisma/adapter-libsql';
import { PrismaMariaDb } from '@prisma/adapter-mariadb';
import { PrismaPg } from '@prisma/adapter-pg';
import { gapless } from 'idsmith/sql';
import { expect } from 'vitest';
import { defaultCases } from './default-cases.mjs';
import { PrismaClient as MariaDb } from './generated/mysql/client.ts';
import { PrismaClient as Postgres } from './generated/postgresql/client.ts';
import { PrismaClient as Sqlite } from './generated/sqlite/client.ts';
import { Page } from './page.mjs';

const [extension] = new Page('column-defaults').programs('Prisma');

/** The extension of the page, with the generators of a test. */
async function extended(client, server, generators) {
  globalThis[server] = generators;
  const head = `import { uuid7 } from 'idsmith/uuid7'; const { flakes, tickets, codes } = globalThis.${server};`;
  const { withIds } = await new Page('column-defaults').run(`prisma_extension_${server}`, head, extension);
  const prisma = client.$extends(withIds);
  return {
    client,
    prisma,
    create: (data, tx = prisma) => tx.order.create({ data }),
    createMany: (data) => prisma.order.createMany({ data }),
    transaction: (work) => prisma.$transaction(work, { maxWait: 20_000, timeout: 20_000 }),
    rows: () => prisma.order.findMany(),
    close: () => prisma.$disconnect(),
  };
}

const UNKNOWN = '019b7c4e-94ce-7ba1-9d1c-21f1a6a6c9e8';
const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;
const articles = (order) => order.lines.map(({ article }) => article).sort();

const more = {
  async 'is needed: without the extension the insert fails'({ db: { client }, rows }) {
    const before = await rows();
    await expect(client.order.create({ data: { note: 'plain' } })).rejects.toThrow();
    expect(await rows()).toEqual(before);
  },

  async 'fills rows that are created inside of others'({ db: { prisma }, rows }) {
    const include = { lines: true };
    const order = await prisma.order.create({
      data: {
        note: 'nested',
        lines: {
          create: [{ article: 'apple' }, { article: 'pear' }],
          createMany: { data: [{ article: 'nut' }] },
        },
      },
      include,
    });
    expect(articles(order)).toEqual(['apple', 'nut', 'pear']);
    for (const line of order.lines) expect(line.id).toMatch(UUID7);

    const { id } = order.lines.find(({ article }) => article === 'apple');
    const changed = await prisma.order.update({
      where: { id: order.id },
      data: {
        lines: {
          create: { article: 'kiwi' },
          connectOrCreate: [
            { where: { id }, create: { article: 'never' } },
            { where: { id: UNKNOWN }, create: { article: 'lime' } },
          ],
          upsert: [
            { where: { id }, create: { article: 'never' }, update: { article: 'plum' } },
            { where: { id: UNKNOWN }, create: { article: 'fig' }, update: { article: 'never' } },
          ],
        },
      },
      include,
    });
    expect(articles(changed)).toEqual(['fig', 'kiwi', 'lime', 'nut', 'pear', 'plum']);

    const line = await prisma.line.create({
      data: { article: 'date', order: { create: { note: 'of a line' } } },
      include: { order: true },
    });
    expect(await rows()).toContainEqual(line.order);
    const moved = await prisma.line.update({
      where: { id: line.id },
      data: { order: { connectOrCreate: { where: { id: 1n }, create: { note: 'of an update' } } } },
      include: { order: true },
    });
    expect(await rows()).toContainEqual(moved.order);
    expect(moved.orderId).not.toBe(line.orderId);
  },

  async 'gives an upsert its ids, and leaves those of a row that is there'({ db: { prisma }, rows }) {
    const upsert = (code, note) =>
      prisma.order.upsert({
        where: { code },
        create: { code, note },
        update: { note, lines: { create: { article: note } } },
      });
    const first = await upsert('order_01kdvebb6ef7nt27117tkadjf9', 'created');
    const second = await upsert(first.code, 'updated');
    expect(second).toEqual({ ...first, note: 'updated' });
    expect(await rows()).toContainEqual(second);
  },

  async 'fills in a transaction of several calls, beside a gapless number'({ db: { prisma }, ids, rows }) {
    await ids.sequences.define('invoices');
    const number = await prisma.$transaction(async (tx) => {
      await tx.order.create({ data: { note: 'first call' } });
      await tx.order.createMany({ data: [{ note: 'second call' }] });
      return gapless('invoices', tx);
    });
    expect(number).toBe(1n);
    const batch = await prisma.$transaction([
      prisma.order.create({ data: { note: 'third call' } }),
      prisma.order.create({ data: { note: 'fourth call' } }),
    ]);
    expect(batch[0].id).toBeLessThan(batch[1].id);
    const notes = (await rows()).map(({ note }) => note);
    for (const name of ['first', 'second', 'third', 'fourth']) expect(notes).toContain(`${name} call`);
  },
};

const andReturn = {
  async 'fills rows that are returned'({ db: { prisma }, rows }) {
    const returned = await prisma.order.createManyAndReturn({ data: [{ note: 'r1' }, { note: 'r2' }] });
    const stored = await rows();
    for (const row of returned) expect(stored).toContainEqual(row);
  },
};

defaultCases(
  'Prisma',
  'postgres',
  ({ url }, generators) =>
    extended(new Postgres({ adapter: new PrismaPg({ connectionString: url }) }), 'postgres', generators),
  { ...more, ...andReturn },
);

defaultCases(
  'Prisma',
  'mariadb',
  ({ url }, generators) =>
    extended(
      new MariaDb({ adapter: new PrismaMariaDb(url.replace(/^mysql/, 'mariadb')) }),
      'mariadb',
      generators,
    ),
  more,
);

defaultCases(
  'Prisma',
  'sqlite',
  ({ file }, generators) =>
    extended(
      new Sqlite({ adapter: new PrismaLibSql({ url: `file:${file}`, intMode: 'bigint' }) }),
      'sqlite',
      generators,
    ),
  { ...more, ...andReturn },
);
