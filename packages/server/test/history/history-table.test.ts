import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, type Store } from 'idsmith';
import { openStore } from 'idsmith/stores';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, startMariadb, startPostgres } from '#services';
import { HistoryTable } from '../../src/history/history-table.ts';
import { TestServer } from '../support/server.ts';

type Sql = NonNullable<Store['sql']>;

const sum = (values: (number | null)[]) => values.reduce<number>((all, value) => all + (value ?? 0), 0);

/** The tests of a database, at the URL that `start` gives. */
function keepsHistories(start: () => Promise<{ url: string; stop: () => unknown }>): void {
  let database: { url: string; stop: () => unknown };
  let store: Store;
  let sql: Sql;
  beforeAll(async () => {
    database = await start();
    store = await openStore(database.url);
    sql = store.sql as Sql;
  }, 120_000);
  afterAll(async () => {
    await store?.close();
    await database?.stop();
  });

  const uuidsOf = async (server: TestServer) =>
    sum((await server.get('/v1/history?span=hour')).json.series.uuid7.values);

  it('has the history again after a restart, for each server its own', async () => {
    const start = (name: string) => TestServer.start({ historyStore: name }, store);
    const servers = await Promise.all([start('web-1'), start('web-2')]);
    await servers[0]?.post('/v1/uuid7?count=7');
    await servers[1]?.post('/v1/uuid7?count=9');
    await Promise.all(servers.map((server) => server.stop()));
    const again = await Promise.all([start('web-1'), start('web-2'), start('web-3')]);
    expect(await Promise.all(again.map(uuidsOf))).toEqual([7, 9, 0]);
    await Promise.all(again.map((server) => server.stop()));
  });

  it('is written by the last server that started with the name, and by no other', async () => {
    const [old, young] = [new HistoryTable(sql, 'same'), new HistoryTable(sql, 'same')];
    expect(await old.read()).toBe(undefined);
    await old.write('by the old one');
    expect(await young.read()).toBe('by the old one');
    await expect(old.write('too late')).rejects.toThrow('another server has started with this name');
    await young.write('by the young one, 注文');
    expect(await new HistoryTable(sql, 'same').read()).toBe('by the young one, 注文');
  });

  it('keeps a history of many megabytes', async () => {
    // As random digits, which no compression makes much smaller.
    const text = Array.from({ length: 400_000 }, () => Math.random().toString(36).slice(2)).join('');
    const table = new HistoryTable(sql, 'large');
    await table.read();
    await table.write(text);
    expect((await new HistoryTable(sql, 'large').read()) === text).toBe(true);
  });

  it('forgets the servers that have not written for longest, beyond a hundred', async () => {
    for (let i = 0; i < 105; i++) await new HistoryTable(sql, `pod-${i}`).read();
    const rows = await sql.outside.query('SELECT name FROM idsmith_history');
    const names = rows.map(({ name }) => String(name));
    expect(names).toHaveLength(100);
    expect(names).toContain('pod-104');
    expect(names).not.toContain('web-1');
  });

  it('refuses what is no history, and leaves it as it is', async () => {
    const table = new HistoryTable(sql, 'odd');
    await table.read();
    await table.write('my notes');
    await expect(TestServer.start({ historyStore: 'odd' }, store)).rejects.toThrow(
      'historyStore: "odd" is not a history of this version. Choose another name',
    );
    expect(await new HistoryTable(sql, 'odd').read()).toBe('my notes');
  });
}

describe('A history in SQLite', () => {
  keepsHistories(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-history-'));
    const stop = () => rmSync(folder, { recursive: true, force: true });
    return { url: `sqlite:${folder}/ids.db`, stop };
  });
});

await describeWith(['postgres'], 'A history in PostgreSQL', () => {
  keepsHistories(async () => {
    const postgres = await startPostgres();
    return { url: postgres.url, stop: () => postgres.stop() };
  });
});

await describeWith(['mariadb'], 'A history in MariaDB', () => {
  keepsHistories(async () => {
    const mariadb = await startMariadb();
    return { url: mariadb.url, stop: () => mariadb.stop() };
  });
});

describe('The setting historyStore', () => {
  it('is refused where it cannot be kept', async () => {
    await expect(TestServer.start({ historyStore: 'web-1' }, memoryStore())).rejects.toThrow(
      'historyStore: the store of this server is no SQL database',
    );
    await expect(TestServer.start({ historyStore: 'web-1', history: 'off' })).rejects.toThrow(
      'historyStore: there is nothing to keep with history off',
    );
    await expect(TestServer.start({ historyStore: 'web-1', historyFile: 'history.json' })).rejects.toThrow(
      'leave one of them out',
    );
    await expect(TestServer.start({ historyStore: 'a name' })).rejects.toThrow(
      'historyStore must be a name of at most 100 letters',
    );
  });
});
