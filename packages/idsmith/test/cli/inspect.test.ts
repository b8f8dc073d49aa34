import { once } from 'node:events';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { InvalidIdError } from 'idsmith';
import { requireReadings } from 'idsmith/inspect';
import { describe, expect, it } from 'vitest';
import { inputLines } from '../../src/cli/input.ts';
import { idsmith, idsmithIn } from './in-process.ts';
import { RunningCommand } from './run.ts';

const UUID = '20be0ffc-314a-bd53-7a50-013a65ca76d2';
const FLAKE = '1703865194431643648';
const KEY = '1jyVFw3401';

describe('idsmith inspect of several ids', () => {
  it('shows a block for each, in order', async () => {
    const { status, lines, stderr } = await idsmith('inspect', UUID, KEY);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const ids = lines.filter((line) => line.startsWith('id ')).map((line) => line.slice(16));
    expect(ids).toEqual([UUID, KEY]);
    expect(lines.filter((line) => line.startsWith('family')).map((line) => line.slice(16))).toEqual([
      'locality',
      'key',
    ]);
  });

  it('is one JSON array, with the reason of those that are no ids, and exits with 2', async () => {
    const { status, stdout, stderr } = await idsmith('inspect', FLAKE, 'nonsense', KEY, '--json');
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject([
      { id: FLAKE, family: 'flake', others: expect.any(Array) },
      { id: 'nonsense', error: { code: 'INVALID_ID', message: '"nonsense" is not an id of any family' } },
      { id: KEY, family: 'key' },
    ]);
    expect(stderr).toBe('idsmith: 1 of 3 are not ids of any family\n');
  });

  it.each([[[]], [['-']]])('reads standard input with the arguments %j', async (args) => {
    const input = `\uFEFF${UUID}\r\n\r\n  ${KEY}  \n${FLAKE}`;
    const { status, stdout } = await idsmithIn({ input }, 'inspect', ...args, '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout).map(({ id }: { id: string }) => id)).toEqual([UUID, KEY, FLAKE]);
  });

  it('mixes arguments and standard input, and is an array for one piped id', async () => {
    const { stdout } = await idsmithIn({ input: `${KEY}\n` }, 'inspect', UUID, '-', '-', '--json');
    expect(JSON.parse(stdout).map(({ id }: { id: string }) => id)).toEqual([UUID, KEY]);
    expect(JSON.parse((await idsmithIn({ input: KEY }, 'inspect', '--json')).stdout)).toMatchObject([
      { id: KEY },
    ]);
  });

  it('answers each line of standard input while more may come', async () => {
    const run = new RunningCommand('inspect');
    for (const id of [UUID, KEY]) {
      run.child.stdin.write(`${id}\n`);
      await run.says('stdout', `id              ${id}`);
    }
    const closed = once(run.child, 'close');
    run.child.stdin.end();
    expect(await closed).toEqual([0, null]);
  });

  it('needs an id', async () => {
    const { status, stdout, stderr } = await idsmithIn({ input: '\n \n' }, 'inspect', '-');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('inspect needs ids: there are none on standard input');
    expect(JSON.parse((await idsmithIn({ input: '' }, 'inspect', '--json')).stdout)).toMatchObject([
      { error: { code: 'USAGE' } },
    ]);
  });

  it('shows any bytes without moving the cursor, and goes on', async () => {
    const input = Buffer.concat([
      Buffer.from([0xff, 0xfe, 0x00, 0x1b, 0x5b, 0x32, 0x4a, 0x0a]),
      Buffer.from(`${'9'.repeat(3_000_000)}\n\u202Etxt\n-1\n${KEY}\n`),
    ]);
    const { status, stdout } = await idsmithIn({ input }, 'inspect');
    expect(status).toBe(2);
    expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    expect(stdout).toContain('\\u{202e}txt');
    expect(stdout.length).toBeLessThan(10_000);
    expect(stdout).toContain('family          key');
  });
});

const never = new AbortController().signal;

describe('Reading any text', () => {
  it('gives readings or InvalidIdError, and nothing else', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.stringMatching(/^-?[0-9]{0,25}$/),
      fc.stringMatching(/^[0-9A-Za-z]{0,16}(-[0-9A-Za-z]*)?$/),
      fc.stringMatching(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        try {
          const readings = requireReadings(text);
          expect(readings.length).toBeGreaterThan(0);
          JSON.stringify(readings);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidIdError);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('finds the lines of a stream, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.stringMatching(/^[a-zé日]{0,5}(\r?\n)?$/)), async (chunks) => {
        const lines: string[] = [];
        for await (const line of inputLines(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), never))
          lines.push(line);
        const whole = chunks.join('').split('\n');
        expect(lines).toEqual(whole.map((line) => line.trim()).filter((line) => line !== ''));
      }),
    );
  });

  it.each(['x', 'é', '日', '😀', ' '])('keeps little of an endless line of %j', async (character) => {
    const chunks = function* () {
      // Chunks that end within characters.
      const chunk = Buffer.from(character.repeat(65_537));
      for (let i = 0; i < 200; i++) yield* [chunk.subarray(0, 16_385), chunk.subarray(16_385)];
      yield Buffer.from('\nlast');
    };
    const lines: string[] = [];
    for await (const line of inputLines(Readable.from(chunks()), never)) lines.push(line);
    expect(lines.map((line) => line.length)).toEqual([4096, 4]);
  });
});
