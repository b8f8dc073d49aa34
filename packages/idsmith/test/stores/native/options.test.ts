import { InvalidOptionError, mariadbSequence, postgresSequence, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';

/** A client that gives the same row to every statement. */
const answering = (row: object) => ({
  query: async () => ({ rows: [row] }),
  execute: async () => ({ rows: [row] }),
});

const SOURCES = {
  postgresSequence: (options: unknown) => postgresSequence(answering({}) as never, 'x', options as never),
  mariadbSequence: (options: unknown) => mariadbSequence(answering({}) as never, 'x', options as never),
};

describe.each(Object.entries(SOURCES))('the options of %s', (_, source) => {
  it.each([
    [{ optimiser: 'pooled' }, 'did you mean "optimizer"?'],
    [{ sequencename: 'x' }, 'did you mean "sequenceName"?'],
    [{ initial: 1 }, 'known: sequenceName, optimizer, initialValue, sql, timeout'],
    [{ optimizer: 'pooledlo' }, 'did you mean "pooled-lo"?'],
    [{ optimizer: 'hilo' }, 'known: pooled-lo, pooled, none'],
    [{ optimizer: null }, 'known: pooled-lo, pooled, none'],
    [{ initialValue: 1 }, 'optimizer is "pooled" (it is "pooled-lo")'],
    [{ optimizer: 'pooled', initialValue: 1.5 }, 'initialValue must be'],
    [{ optimizer: 'pooled', initialValue: '1' }, 'initialValue must be'],
    [{ timeout: 0 }, 'timeout must be'],
    [null, 'options must be an object'],
    ['pooled', 'options must be an object'],
  ])('%o are refused', (options, message) => {
    expect(() => source(options)).toThrow(InvalidOptionError);
    expect(() => source(options)).toThrow(message);
  });

  it('are all optional, and may be undefined', () => {
    expect(() => source(undefined)).not.toThrow();
    const names = ['sequenceName', 'optimizer', 'initialValue', 'sql', 'timeout'];
    expect(() => source(Object.fromEntries(names.map((name) => [name, undefined])))).not.toThrow();
  });
});

describe('a statement of one’s own', () => {
  const allocate = (row: object, options: object) =>
    postgresSequence(answering(row), 'x', { sql: 'SELECT …', ...options }).allocate(1);

  it('needs to give no more than a value with optimizer none', async () => {
    expect(await allocate({ v: '7' }, { optimizer: 'none' })).toEqual({ first: 7n, step: 1, count: 1 });
    await expect(allocate({ v: '7' }, { optimizer: 'pooled' })).rejects.toThrow(StoreError);
  });

  it('may tell the start of the sequence, which optimizer pooled gives alone', async () => {
    const pooled = { optimizer: 'pooled' };
    const row = { v: '101', i: '50', min: '1', max: '9999' };
    expect((await allocate({ ...row, start: '1' }, pooled)).first).toBe(52n);
    expect((await allocate({ ...row, start: '101' }, pooled)).first).toBe(101n);
    expect((await allocate(row, pooled)).first).toBe(101n);
    expect((await allocate({ ...row, start: '1' }, { ...pooled, initialValue: 101n })).first).toBe(101n);
  });

  it('may give an increment past 2^53: the block is as long as a block can be', async () => {
    const block = await allocate({ v: '1', i: String(2n ** 62n) }, {});
    expect(block).toEqual({ first: 1n, step: 1, count: Number.MAX_SAFE_INTEGER });
  });
});
