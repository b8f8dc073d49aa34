import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const { mayBeLuck } = (await import(new URL('../../scripts/run-vitest.mjs', import.meta.url).href)) as {
  mayBeLuck(failure: { file?: string; name: string; message: string }): boolean;
};

describe('Which failures get a second look', () => {
  const failure = (name: string, message: string) => mayBeLuck({ file: 'a.test.ts', name, message });

  it('refuses ids that came twice, by the name of the test or by its message', () => {
    expect(failure('repeats no id', 'AssertionError: expected 3 to be 0')).toBe(false);
    expect(failure('mints', 'AssertionError: 5 ids are not unique')).toBe(false);
  });

  it('takes a time limit and a process that ended for luck, even in a test of uniqueness', () => {
    expect(failure('repeats no id', 'Error: Test timed out in 180000ms.\n    at uniqueness.test.ts:1')).toBe(
      true,
    );
    expect(failure('repeats no id', 'Error: mint.mjs ended with 1\n    at uniqueness.test.ts:1')).toBe(true);
    expect(failure('mints', 'AssertionError: expected 1 to be 2\n    at unique.ts:1')).toBe(true);
    expect(failure('mints', 'Error: the id 7 came twice')).toBe(false);
  });

  it('refuses laws, whose cases are the same in every run, and errors outside of tests', () => {
    expect(failure('adds up', 'Error: Property failed after 3 tests\n{ seed: 1 }')).toBe(false);
    expect(mayBeLuck({ name: 'every test passed', message: 'but an error was thrown' })).toBe(false);
  });
});

describe('A run with a second look', { timeout: 120_000 }, () => {
  const here = fileURLToPath(new URL('.', import.meta.url));
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(here, '../../node_modules/.run-vitest-'));
    writeFileSync(join(folder, 'vitest.config.mjs'), 'export default {};');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function run(body: string) {
    writeFileSync(
      join(folder, 'one.test.mjs'),
      `import { existsSync, writeFileSync } from 'node:fs';
      import { expect, it } from 'vitest';
      const mark = new URL('mark', import.meta.url);
      const isSecond = existsSync(mark);
      writeFileSync(mark, '');
      it('works', () => {});
      ${body}`,
    );
    const script = `import { runVitest } from ${JSON.stringify(join(here, '../../scripts/run-vitest.mjs'))};
      console.log('\\nRESULT ' + JSON.stringify(await runVitest(['--root=' + process.env.FOLDER])));`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', script],
      {
        env: { ...process.env, FOLDER: folder },
      },
    );
    const result = JSON.parse(/^RESULT (.*)$/m.exec(stdout)![1]!);
    return { passed: result.passed, failed: result.failures.length, unstable: result.unstable.length };
  }

  it('names a test as unstable that fails in the run and passes alone', async () => {
    const body = "it('is in time', () => expect(isSecond).toBe(true));";
    expect(await run(body)).toEqual({ passed: 2, failed: 0, unstable: 1 });
  });

  it('fails with a test that fails again', async () => {
    const body = "it('is right', () => expect(1).toBe(2));";
    expect(await run(body)).toEqual({ passed: 1, failed: 1, unstable: 0 });
  });
});
