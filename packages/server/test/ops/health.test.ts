import { LeaseFencedError, memoryStore, StoreError } from 'idsmith';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Health } from '../../src/ops/health.ts';
import { jsonLines, type Log, makeLog } from '../../src/ops/log.ts';

let lines: string[];
let log: Log;

// A log of its own for each test, because a log writes equal errors once a second.
beforeEach(() => {
  lines = [];
  log = makeLog(
    'info',
    jsonLines((line) => lines.push(line)),
  );
});
afterEach(() => vi.restoreAllMocks());

const failing = (error: Error) => ({
  ...memoryStore(),
  listLeases: async () => {
    throw error;
  },
});

it('asks the store at the first check, also in the first second of a process', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(5);
  const health = new Health(failing(new StoreError('the disk is full')), () => [], log);
  expect(await health.check()).toMatchObject({ code: 'STORE' });
});

it.each([
  ['of the library', new StoreError('postgres://db.internal:5432 does not answer')],
  ['of a driver', Object.assign(new Error('connect db.internal:5432'), { code: 'ECONNREFUSED' })],
])('keeps the message of an error %s for the log, because anybody may ask', async (_, error) => {
  const health = new Health(failing(error), () => [], log);
  expect(await health.check()).toEqual({
    code: 'STORE',
    detail: 'the store does not answer as it should; the log of the server has the reason',
  });
  expect(lines.join('')).toContain('db.internal:5432');
});

it('is not ready while a family is refused, and names all of them', async () => {
  const error = new LeaseFencedError('the lease of node 7 ended');
  const refusals = [
    { family: 'flake', error },
    { family: 'locality variable', error },
  ];
  const health = new Health(memoryStore(), () => refusals.splice(0), log);
  expect(await health.check()).toEqual({
    code: 'LEASE_FENCED',
    detail:
      'this server cannot mint at present: flake, locality variable; the log of the server has the reason',
  });
  expect(lines.join('')).toContain('the lease of node 7 ended');
  expect(await health.check()).toBeUndefined();
});
