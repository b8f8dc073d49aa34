import { randomBytes } from 'node:crypto';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { getMigrations } from 'better-auth/db/migration';
import { connect } from 'idsmith/connect';
import { typeIds } from 'idsmith/typeid';
import { uuid7 } from 'idsmith/uuid7';
import { SqliteDialect } from 'kysely';
import Libsql from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases } from './databases.mjs';

const ids = await connect('memory:');
afterAll(() => ids.close());
const flakes = await ids.flakes('users', { as: 'string' });

const ways = {
  'a UUIDv7': [() => uuid7(), /^[0-9a-f]{8}-[0-9a-f]{4}-7/],
  'a typed id': [({ model }) => typeIds(model).next(), /^user_[0-9a-z]{26}$/],
  'a flake as text': [() => flakes.next(), /^\d{18,19}$/],
};

const authWith = (database, generateId) =>
  betterAuth({
    baseURL: 'http://localhost',
    secret: randomBytes(32).toString('hex'),
    database,
    emailAndPassword: { enabled: true },
    advanced: { database: { generateId } },
  });

/** Two users, each with a session. */
async function signUp(auth) {
  const users = [];
  for (const name of ['ada', 'bob']) {
    const body = { name, email: `${name}@example.com`, password: 'correct horse battery' };
    const { user, token } = await auth.api.signUpEmail({ body });
    expect(token).toBeTruthy();
    const signedIn = await auth.api.signInEmail({ body });
    expect(signedIn.user.id).toBe(user.id);
    users.push(user.id);
  }
  return users;
}

describe.each(Object.entries(ways))('better-auth with %s', (_name, [generateId, form]) => {
  let database;
  beforeAll(async () => {
    database = await databases.sqlite('better_auth');
  });
  afterAll(() => database?.remove());

  it('keeps the ids of users and their rows in SQLite', async () => {
    const db = new Libsql(database.file);
    const inSqlite = { dialect: new SqliteDialect({ database: db }), type: 'sqlite' };
    await (await getMigrations({ database: inSqlite, emailAndPassword: { enabled: true } })).runMigrations();
    const users = await signUp(authWith(inSqlite, generateId));
    for (const id of users) expect(id).toMatch(form);
    expect(await database.read('SELECT id FROM user ORDER BY id')).toEqual(users.map((id) => ({ id })));
    const sessions = await database.read('SELECT DISTINCT userId FROM session ORDER BY userId');
    expect(sessions).toEqual(users.map((userId) => ({ userId })));
    db.close();
  });

  it('keeps them in its memory adapter', async () => {
    const tables = { user: [], session: [], account: [], verification: [] };
    const users = await signUp(authWith(memoryAdapter(tables), generateId));
    expect(tables.user.map(({ id }) => id)).toEqual(users);
    expect(tables.session.map(({ userId }) => userId)).toEqual(users.flatMap((id) => [id, id]));
  });
});
