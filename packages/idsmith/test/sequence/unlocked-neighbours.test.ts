import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type StoreServer, shared } from '#services';
import { connect, type Ids } from '../../src/connect/index.ts';
import { memoryStore } from '../../src/stores/memory/store.ts';

type Row = Record<string, unknown>;
/** Runs a statement of the old program. */
type Ask = (sql: string) => Promise<Row[]>;

const SIZE = 20;
const READ = "SELECT next_block_start, block_size, exhausted FROM id_sequences WHERE name = 'members'";
/** The statements that programs write a block with, after they have read the row. */
const WRITES = {
  'adds the block size': () =>
    "UPDATE id_sequences SET next_block_start = next_block_start + block_size WHERE name = 'members'",
  'writes a number': (next: bigint) =>
    `UPDATE id_sequences SET next_block_start = ${next} WHERE name = 'members'`,
};

/** The old program: a SELECT, an UPDATE and a COMMIT, without a lock. `between` runs after the SELECT. */
async function takeAsBefore(
  ask: Ask,
  begin: string,
  write: (next: bigint) => string,
  between: () => Promise<void>,
): Promise<bigint[]> {
  await ask(begin);
  const [row] = await ask(READ);
  const first = BigInt(row!.next_block_start as string);
  await between();
  try {
    await ask(write(first + BigInt(SIZE)));
    await ask('COMMIT');
  } catch (error) {
    await ask('ROLLBACK');
    throw error;
  }
  return Array.from({ length: SIZE }, (_, i) => first + BigInt(i));
}

/** Adds ids to those that were given out, and gives the ids that were there before. */
function repeatsIn(all: Set<bigint>, ids: bigint[]): bigint[] {
  const repeated = ids.filter((id) => all.has(id));
  for (const id of ids) all.add(id);
  return repeated;
}

/** Rounds in which idsmith takes ids between the SELECT and the UPDATE of the old program. Gives repeated ids and the program's errors. */
async function alternate(
  ids: Ids,
  oldProgram: (between: () => Promise<void>) => Promise<bigint[]>,
  unlockedNeighbours: boolean,
) {
  const members = await ids.sequence('members', { prefetch: 0, unlockedNeighbours });
  const all = new Set<bigint>();
  const repeated: bigint[] = [];
  const errors: unknown[] = [];
  for (let round = 0; round < 30; round++) {
    // From no id to more than two blocks, so that some rounds take no block and some take several.
    const between = async () => void repeated.push(...repeatsIn(all, await members.batch((round * 7) % 45)));
    await oldProgram(between).then(
      (block) => repeated.push(...repeatsIn(all, block)),
      (error: unknown) => errors.push(error),
    );
  }
  await members.close();
  return { repeated: repeated.length, errors };
}

await describeWith(['mariadb'], 'sequences beside unlocked programs on MariaDB', () => {
  const begin = 'START TRANSACTION';
  let server: StoreServer;
  let ids: Ids;
  let ask: Ask;
  let end: () => Promise<void>;
  beforeAll(async () => {
    server = await shared('mariadb');
    const connection = await createConnection({
      uri: server.url,
      supportBigNumbers: true,
      bigNumberStrings: true,
    });
    ask = async (sql) => (await connection.query(sql))[0] as Row[];
    await ask('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    end = () => connection.end();
    ids = await connect(server.url);
    await ids.sequences.define('members', { blockSize: SIZE });
  });
  afterAll(async () => {
    await ids?.close();
    await end?.();
    await server?.stop();
  });
  const oldProgram = (way: keyof typeof WRITES) => (between: () => Promise<void>) =>
    takeAsBefore(ask, begin, WRITES[way], between);

  it('repeat ids without the option', async () => {
    const { repeated } = await alternate(ids, oldProgram('adds the block size'), false);
    expect(repeated).toBeGreaterThan(0);
  });

  it('repeat no id of a program that adds the block size', async () => {
    expect(await alternate(ids, oldProgram('adds the block size'), true)).toEqual({
      repeated: 0,
      errors: [],
    });
  });

  it('notice a program that writes a number that it has calculated: the row has gone back', async () => {
    const members = await ids.sequence('members', { prefetch: 0, unlockedNeighbours: true });
    await oldProgram('writes a number')(async () => void (await members.batch(SIZE)));
    await expect(members.next()).rejects.toMatchObject({ code: 'STORE_WENT_BACK' });
  });
});

await describeWith(['postgres'], 'sequences beside unlocked programs on PostgreSQL', () => {
  let server: StoreServer;
  let ids: Ids;
  let client: pg.Client;
  beforeAll(async () => {
    server = await shared('postgres');
    client = new pg.Client({ connectionString: server.url });
    await client.connect();
    ids = await connect(server.url);
    await ids.sequences.define('members', { blockSize: SIZE });
  });
  afterAll(async () => {
    await ids?.close();
    await client?.end();
    await server?.stop();
  });
  const ask: Ask = async (sql) => (await client.query(sql)).rows;
  const oldProgram = (begin: string) => (between: () => Promise<void>) =>
    takeAsBefore(ask, begin, WRITES['writes a number'], between);

  it('need no option at REPEATABLE READ: the program gets a serialization error, and tries again', async () => {
    const program = oldProgram('BEGIN ISOLATION LEVEL REPEATABLE READ');
    const { repeated, errors } = await alternate(ids, program, false);
    expect(repeated).toBe(0);
    expect(new Set(errors.map((error) => (error as { code: string }).code))).toEqual(new Set(['40001']));
  });

  it('repeat ids at READ COMMITTED without the option', async () => {
    const program = (between: () => Promise<void>) =>
      takeAsBefore(ask, 'BEGIN', WRITES['adds the block size'], between);
    expect((await alternate(ids, program, false)).repeated).toBeGreaterThan(0);
    expect(await alternate(ids, program, true)).toEqual({ repeated: 0, errors: [] });
  });
});

it('leave the first block of each allocation unused, and give nothing back', async () => {
  const ids = await connect(memoryStore());
  const define = { blockSize: 10 };
  const members = await ids.sequence('members', { define, prefetch: 0, unlockedNeighbours: true });
  expect(await members.batch(12)).toEqual([11n, 12n, 13n, 14n, 15n, 16n, 17n, 18n, 19n, 20n, 31n, 32n]);
  await members.close();
  expect((await ids.sequences.describe('members')).next).toBe(41n);
});

it('leave a whole block unused after the block size has changed, and at the end of the sequence', async () => {
  const ids = await connect(memoryStore());
  const define = { blockSize: 10, max: 100 };
  const members = await ids.sequence('members', { define, prefetch: 2, unlockedNeighbours: true });
  expect(await members.next()).toBe(11n); // 1 to 10 unused, 11 to 40 taken
  await ids.sequences.alter('members', { blockSize: 20 });
  // 41 to 100 are three blocks of 20, and four were asked for: 41 to 60 stay unused.
  expect((await members.batch(30)).at(-1)).toBe(61n);
  await ids.sequences.alter('members', { max: 120 });
  await members.batch(39);
  await expect(members.next()).rejects.toThrow(
    'sequence "members" is exhausted: its last block stays unused because of unlockedNeighbours',
  );
});

it('are not combined with a source or an implementation', async () => {
  const ids = await connect(memoryStore());
  const source = { allocate: async () => ({ first: 1n, step: 1, count: 1 }) };
  await expect(ids.sequence('members', { source, unlockedNeighbours: true })).rejects.toThrow(
    'sequence "members": unlockedNeighbours is for a row of id_sequences: leave out source and implementation',
  );
});
