import { PrismaLibSql } from '@prisma/adapter-libsql';
import { PrismaMariaDb } from '@prisma/adapter-mariadb';
import { PrismaPg } from '@prisma/adapter-pg';
import { cases } from './cases.mjs';
import { PrismaClient as MariaDb } from './generated/mysql/client.ts';
import { PrismaClient as Postgres } from './generated/postgresql/client.ts';
import { PrismaClient as Sqlite } from './generated/sqlite/client.ts';

const ways = (prisma) => ({
  transaction: (work) => prisma.$transaction(work, { maxWait: 20_000, timeout: 20_000 }),
  savepoint: (tx, work) => tx.$transaction(work),
  insert: (tx, data) => tx.invoice.create({ data }),
  rows: () => prisma.invoice.findMany(),
  outside: () => [prisma],
  close: () => prisma.$disconnect(),
});

cases('Prisma', 'postgres', async ({ url }) =>
  ways(new Postgres({ adapter: new PrismaPg({ connectionString: url }) })),
);

cases('Prisma', 'mariadb', async ({ url }) =>
  ways(new MariaDb({ adapter: new PrismaMariaDb(url.replace(/^mysql/, 'mariadb')) })),
);

cases('Prisma', 'sqlite', async ({ file }) =>
  ways(new Sqlite({ adapter: new PrismaLibSql({ url: `file:${file}`, intMode: 'bigint' }) })),
);
