import { EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text, uuid } from 'drizzle-orm/pg-core';
import mongoose from 'mongoose';
import { Pool } from 'pg';
import { DataTypes, Sequelize } from 'sequelize';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases } from './databases.mjs';

// What becomes of a default that gives a promise. docs/column-defaults.md takes the numbers of sequences elsewhere.

describe('A default that gives a promise', () => {
  const later = async () => 'the id';
  let url;
  let pool;
  beforeAll(async () => {
    ({ url } = await databases.postgres('waiting_defaults'));
    pool = new Pool({ connectionString: url });
    await pool.query('CREATE TABLE notes (id UUID PRIMARY KEY DEFAULT gen_random_uuid(), body TEXT)');
  });
  afterAll(() => pool?.end());

  /** What was stored, or the error. */
  const stored = async (insert) => {
    await pool.query('DELETE FROM notes');
    try {
      await insert();
    } catch (error) {
      return error;
    }
    return (await pool.query('SELECT body FROM notes')).rows[0].body;
  };

  it('is stored as {} by Drizzle', async () => {
    const notes = pgTable('notes', {
      id: uuid().primaryKey().defaultRandom(),
      body: text().$defaultFn(later),
    });
    expect(await stored(() => drizzle(pool).insert(notes).values({}))).toBe('{}');
  });

  it('is refused by Sequelize', async () => {
    const sequelize = new Sequelize(url, { logging: false });
    const id = { type: DataTypes.UUID, primaryKey: true, defaultValue: DataTypes.UUIDV4 };
    const body = { type: DataTypes.TEXT, defaultValue: later };
    const Note = sequelize.define('notes', { id, body }, { timestamps: false });
    expect(await stored(() => Note.create({}))).toBeInstanceOf(Error);
    await sequelize.close();
  });

  it('is stored as [object Promise] by MikroORM', async () => {
    const Note = new EntitySchema({
      name: 'Note',
      tableName: 'notes',
      properties: {
        id: { type: 'uuid', primary: true, onCreate: () => crypto.randomUUID() },
        body: { type: 'text', onCreate: later },
      },
    });
    const orm = await MikroORM.init({ clientUrl: url, entities: [Note] });
    const em = orm.em.fork();
    const insert = async () => {
      em.create(Note, {}, { partial: true });
      await em.flush();
    };
    expect(await stored(insert)).toBe('[object Promise]');
    await orm.close();
  });

  it('is refused by Mongoose', async () => {
    const Note = mongoose.model('Note', new mongoose.Schema({ body: { type: String, default: later } }));
    await expect(new Note({}).validate()).rejects.toThrow(/Cast to string failed/);
  });
});
