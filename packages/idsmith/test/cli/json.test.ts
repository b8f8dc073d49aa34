import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SequenceExhaustedError } from 'idsmith';
import { afterAll, describe, expect, it } from 'vitest';
import type { Given } from '../../src/cli/command.ts';
import type { UnfinishedJson } from '../../src/cli/failure.ts';
import { idLines, jsonArray } from '../../src/cli/output.ts';
import { idsmith } from './in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-cli-json-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const store = `sqlite:${join(folder, 'ids.db')}`;

describe('--json', () => {
  it('stays JSON when ids run out midway, with the ids and the error', async () => {
    await idsmith('seq', 'define', 'few', '--max', '30', '--block-size', '10', '--store', store);
    const { status, stdout, stderr } = await idsmith(
      'seq',
      'next',
      'few',
      '-n',
      '31',
      '--json',
      '--store',
      store,
    );
    expect(status).toBe(1);
    const { ids, error } = JSON.parse(stdout);
    expect(ids).toEqual(Array.from({ length: 30 }, (_, i) => String(i + 1)));
    expect(error.code).toBe('SEQUENCE_EXHAUSTED');
    expect(stderr).toBe(`idsmith: ${error.message}\n`);
    const none = await idsmith('seq', 'next', 'few', '--json', '--store', store);
    expect({ status: none.status, ...JSON.parse(none.stdout) }).toMatchObject({
      status: 1,
      ids: [],
      error: { code: 'SEQUENCE_EXHAUSTED' },
    });
  });

  it.each<[string[], number, object]>([
    [['seq', 'show', 'nope', '--store', store], 1, { code: 'NO_SUCH_SEQUENCE' }],
    [['seq', 'list', '--store', 'sqlite:/nowhere/x.db'], 1, { code: 'STORE', reason: 'NOT_FOUND' }],
    [['seq', 'list', '--store', 'nonsense:'], 2, { code: 'INVALID_OPTION' }],
    [['flake', '-n', '1.5', '--node', '1'], 2, { code: 'INVALID_OPTION' }],
    [['flake', '--nod', '1'], 2, { code: 'USAGE', message: 'flake takes no --nod; did you mean --node?' }],
    [['seq', 'nxt'], 2, { code: 'USAGE' }],
    [['frobnicate'], 2, { code: 'USAGE' }],
    [['inspect', 'nonsense'], 2, { code: 'INVALID_ID' }],
    [['plan'], 2, { code: 'USAGE' }],
  ])('stays JSON for the failure of %j', async (args, code, error) => {
    const { status, stdout, stderr } = await idsmith(...args, '--json');
    expect(status).toBe(code);
    expect(JSON.parse(stdout).error).toMatchObject(error);
    expect(stderr).toContain(JSON.parse(stdout).error.message);
  });
});

describe('JSON that is written piece by piece', () => {
  const given = { on: () => true } as unknown as Given;

  async function collected(lines: Iterable<string> | AsyncIterable<string>) {
    let text = '';
    try {
      for await (const line of lines) text += `${line}\n`;
    } catch (error) {
      const { end, cause } = error as UnfinishedJson;
      return { value: JSON.parse(text + end), error: cause };
    }
    return { value: JSON.parse(text), error: undefined };
  }

  function* failingAfter(count: number, error: unknown): Iterable<string> {
    for (let i = 0; i < count; i++) yield String(i);
    throw error;
  }

  it.each([0, 1, 2, 5])('is complete with %j ids and with an error after them', async (count) => {
    const ids = Array.from({ length: count }, (_, i) => String(i));
    expect(await collected(idLines(given, ids))).toEqual({ value: { ids }, error: undefined });
    expect(await collected(jsonArray(ids))).toEqual({ value: ids, error: undefined });
    for (const error of [new SequenceExhaustedError('no "more"'), new TypeError('odd')]) {
      const json = {
        code: error instanceof TypeError ? 'UNEXPECTED' : 'SEQUENCE_EXHAUSTED',
        message: error instanceof TypeError ? 'TypeError: odd' : 'no "more"',
      };
      const failed = await collected(idLines(given, failingAfter(count, error)));
      expect(failed).toEqual({ value: { ids, error: json }, error });
      const array = await collected(jsonArray(failingAfter(count, error)));
      expect(array).toEqual({ value: [...ids, { error: json }], error });
    }
  });
});
