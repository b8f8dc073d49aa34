import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layouts } from 'idsmith';
import { afterAll, describe, expect, it } from 'vitest';
import { idsmith, idsmithIn } from '../in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-cli-check-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(name: string, lines: readonly unknown[]): string {
  const path = join(folder, name);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  return path;
}

const T = Date.UTC(2026, 0, 2, 3, 4, 5);
const flake = (ms: number, node: number, sequence = 0) =>
  String(layouts.jflake.encode({ timestamp: T + ms, node, sequence }));

const check = (path: string, ...args: string[]) => idsmith('check', '--ids', path, ...args);
const json = async (path: string, ...args: string[]) =>
  JSON.parse((await check(path, '--json', ...args)).stdout);

describe('idsmith check', () => {
  const ids = [flake(0, 1), flake(0, 1, 1), flake(5, 2), flake(5000, 1), flake(5001, 2)];

  it('tells layout, order, times, gaps and nodes of ids that are all right', async () => {
    const { status, lines, stderr } = await check(fileOf('good.txt', ids));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(lines).toEqual([
      'ids      5: 5 flake',
      'layout   jflake (fits also: snowflake, instagram; choose with --layout)',
      'order    ascending',
      'time     2026-01-02T03:04:05.000Z to 2026-01-02T03:04:10.001Z',
      'gap      5 s without ids, 2026-01-02T03:04:05.005Z to 2026-01-02T03:04:10.000Z',
      'gap      5 ms without ids, 2026-01-02T03:04:05.000Z to 2026-01-02T03:04:05.005Z',
      'node     1: 3 ids, 2026-01-02T03:04:05.000Z to 2026-01-02T03:04:10.000Z',
      'node     2: 2 ids, 2026-01-02T03:04:05.005Z to 2026-01-02T03:04:10.001Z',
      'repeats  none',
    ]);
  });

  it('refuses text that is not UTF-8 and names the line, because different bytes would look the same', async () => {
    const path = join(folder, 'latin1.txt');
    writeFileSync(path, Buffer.from('Meier\nM\xfcller\nM\xf6ller\n', 'latin1'));
    const message = /^idsmith: .*latin1\.txt, line 2: not UTF-8\. Convert the text, for example with iconv/;
    expect(await check(path)).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
    const input = Buffer.from('1\n2\n\xff\xfe', 'latin1');
    expect(await idsmithIn({ input }, 'check', '-')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('standard input, line 3: not UTF-8'),
    });
    writeFileSync(path, 'Müller\nMöller\n\uFFFD\n');
    expect((await check(path)).status).toBe(0);
  });

  it('does not compare lines that are too long to be kept, wherever their spaces are', async () => {
    const long = (end: string) => `ab${' '.repeat(20_000)}${end}`;
    const path = fileOf('long.txt', [
      'ab',
      long('c'),
      long('d'),
      ` ${'x'.repeat(5000)}`,
      ` ${'x'.repeat(5001)}`,
    ]);
    expect(await json(path)).toMatchObject({ repeats: { ids: 0 }, unreadable: { first: [1, 2, 3, 4, 5] } });
  });

  it('tells of each repeat its lines, its node and its millisecond, and exits with 1', async () => {
    const path = fileOf('repeats.txt', [...ids, 'text', '', ids[2], ids[2], ids[4]]);
    const { status, lines, stderr } = await check(path);
    expect(status).toBe(1);
    expect(stderr).toBe('idsmith: repeated ids: 2; lines too many: 3\n');
    expect(lines).toContain('not ids  1, line 6');
    expect(lines.slice(-3)).toEqual([
      'repeats  2',
      `         ${ids[2]} 3 times, lines 3, 8, 9: node 2, 2026-01-02T03:04:05.005Z (${T + 5}), sequence 0`,
      `         ${ids[4]} 2 times, lines 5, 10: node 2, 2026-01-02T03:04:10.001Z (${T + 5001}), sequence 0`,
    ]);
    expect(await json(path)).toMatchObject({
      ids: 8,
      unreadable: { count: 1, first: [6] },
      layout: 'jflake',
      otherLayouts: ['snowflake', 'instagram'],
      order: { ascending: false, stepsBack: 2, first: { line: 8, id: ids[2], after: ids[4] } },
      time: { first: T, last: T + 5001 },
      nodes: { count: 2, complete: true },
      repeats: {
        ids: 2,
        surplusLines: 3,
        complete: true,
        list: [
          {
            id: ids[2],
            count: 3,
            lines: [3, 8, 9],
            family: 'flake',
            layout: 'jflake',
            node: '2',
            timestamp: T + 5,
          },
          { id: ids[4], count: 2, lines: [5, 10], node: '2', iso: '2026-01-02T03:04:10.001Z' },
        ],
      },
    });
  });

  it('reads numbers by another layout when it is named', async () => {
    const { node } = layouts.snowflake.decode(ids[2] as string);
    const { layout, repeats } = await json(fileOf('named.txt', [ids[2], ids[2]]), '--layout', 'snowflake');
    expect({ layout, node: repeats.list[0].node }).toEqual({ layout: 'snowflake', node: String(node) });
  });

  it('finds the same id in other clothes: case, signs, zeros and spaces', async () => {
    const uuid = '20be0ffc-314a-bd53-7a50-013a65ca76d2';
    const signed = 2n ** 63n + 12_345n;
    const lines = [uuid, uuid.toUpperCase(), signed, signed - 2n ** 64n, '00017', ' 17\r'];
    const { repeats } = await json(fileOf('clothes.txt', lines));
    expect(repeats.list.map(({ lines: places }: { lines: number[] }) => places)).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
  });

  it('keeps apart what differs: keys by case, and text that is no id', async () => {
    const { status } = await check(fileOf('keys.txt', ['1jyVFw3401', '1jyvFw3401', 'nano-A', 'nano-a']));
    expect(status).toBe(0);
    expect((await json(fileOf('nano.txt', ['nano-A', 'x', 'nano-A']))).repeats.list).toEqual([
      { id: 'nano-A', count: 2, lines: [1, 3] },
    ]);
  });

  it('takes small numbers for a sequence', async () => {
    expect(await json(fileOf('sequence.txt', [9, 10, 11, 10]))).toMatchObject({
      families: { number: 4 },
      order: { stepsBack: 1, first: { line: 4, id: '10', after: '11' } },
      repeats: { list: [{ id: '10', lines: [2, 4] }] },
    });
  });

  it('reads standard input, and leaves no file behind', async () => {
    const env = { TMPDIR: mkdtempSync(join(folder, 'tmp-')) };
    for (const args of [['check'], ['check', '--ids', '-']]) {
      const { status, lines } = await idsmithIn({ input: `${ids[0]}\n${ids[0]}`, env }, ...args);
      expect(status).toBe(1);
      expect(lines.at(-1)).toContain(`${ids[0]} 2 times, lines 1, 2: node 1`);
    }
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });

  it('does not compare lines that are too long to be ids', async () => {
    const long = 'x'.repeat(100_000);
    const found = await json(fileOf('long.txt', [`${long}1`, `${long}2`, ids[0]]));
    expect(found).toMatchObject({ ids: 1, unreadable: { count: 2 }, repeats: { ids: 0 } });
  });

  it.each([
    [['--ids', join(folder, 'nowhere.txt')], 'cannot be read: ENOENT'],
    [['--ids', folder], 'is neither a file nor a pipe'],
    [['--ids', '-', '--layout', 'nonsense'], '--layout must be "jflake"'],
    [['--ids', '-', '--layout', 'snowflak'], 'did you mean "snowflake"?'],
    [['--ids', '-'], 'check needs ids: there are none'],
    [['orders.txt'], 'the file orders.txt cannot be read: ENOENT'],
    [['orders.txt', '--ids', 'orders.txt'], 'check takes FILE or --ids FILE, not both'],
  ])('of %j is wrong usage', async (args, message) => {
    const { status, stdout, stderr } = await idsmithIn({ input: '' }, 'check', ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});
