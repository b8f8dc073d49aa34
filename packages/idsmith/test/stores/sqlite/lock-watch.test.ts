import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from 'idsmith/testing';
import Libsql from 'libsql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LockWatch } from '../../../src/stores/sqlite/lock-watch.ts';
import { dataVersion } from '../../../src/stores/sqlite/store.ts';

describe('a locked file', () => {
  let folder: string;
  let files = 0;
  let clock: FakeClock;
  let other: InstanceType<typeof Libsql>;
  let lock: LockWatch;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'idsmith-lock-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const start = (journal: string) => {
    const file = join(folder, `${files++}.db`);
    other = new Libsql(file);
    other.exec(`PRAGMA journal_mode = ${journal}; CREATE TABLE t (n INTEGER)`);
    const db = new Libsql(file);
    lock = new LockWatch(() => dataVersion(db as never), 20_000, clock);
  };
  beforeEach(() => {
    clock = new FakeClock(1000);
  });

  it.each(['WAL', 'DELETE'])('is waited for as long as others write to it (%s)', (journal) => {
    start(journal);
    for (let i = 0; i < 20; i++) {
      other.exec('INSERT INTO t VALUES (1); BEGIN IMMEDIATE');
      expect(lock.isWorthWaiting()).toBe(true);
      clock.advance(15_000);
      expect(lock.isWorthWaiting()).toBe(true);
      other.exec('COMMIT');
    }
  });

  it.each(['BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE'])(
    'is given up after its time without a write (%s)',
    (begin) => {
      start('DELETE');
      other.exec(begin);
      expect(lock.isWorthWaiting()).toBe(true);
      clock.advance(20_000);
      expect(lock.isWorthWaiting()).toBe(true);
      clock.advance(1);
      expect(lock.isWorthWaiting()).toBe(false);
      // The next call has the same time again.
      expect(lock.isWorthWaiting()).toBe(true);
    },
  );

  it('that was free for a moment is waited for anew', () => {
    start('WAL');
    other.exec('BEGIN IMMEDIATE');
    expect(lock.isWorthWaiting()).toBe(true);
    clock.advance(20_000);
    lock.passed();
    clock.advance(1);
    expect(lock.isWorthWaiting()).toBe(true);
  });
});
