import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
// Below node_modules, so that `import 'idsmith'` finds the built package as a user's program would.
const cache = join(root, 'node_modules', '.cache');
mkdirSync(cache, { recursive: true });
const scratch = mkdtempSync(join(cache, 'idsmith-docs-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Block {
  language: string;
  code: string;
  line: number;
}

/** The fenced blocks of a page. */
function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code], i, all) => ({
    language: language as string,
    code: code as string,
    line: text.slice(0, all[i]?.index).split('\n').length,
  }));
}

/** What `console.log(…); // text` says it prints. */
function promisedOutput(code: string): string[] {
  return [...code.matchAll(/console\.log\(.*\);? \/\/ (.*)$/gm)].map((match) => match[1] as string);
}

/** A program or a command of a page. */
type Step = { readonly file: string } | { readonly command: string };

/** What a step has printed. */
interface Printed {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the steps of a page in a folder, in one process. */
function run(home: string, steps: readonly Step[]): Printed[] {
  // Code for a service takes its store from the environment.
  const env = { ...process.env, STORE_URL: 'memory:' };
  const args = [join(root, 'test/run-page.mjs'), JSON.stringify(steps)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: home, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the programs of the page end with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Every page of the project. */
const examples = readdirSync(join(root, 'examples')).map((name) => join('examples', name));
const pages = [
  '.',
  'docs',
  'site',
  ...examples,
  ...['shard', 'oracle', 'verify', 'server', 'console', 'fastify', 'nest'].map((name) =>
    join('packages', name),
  ),
].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

describe.each(pages)('%s', (page) => {
  const blocks = blocksOf(page);
  /** Where its code and commands run, in order, so that they may leave files to each other. */
  const home = join(scratch, page.replaceAll('/', '-'));
  mkdirSync(home);

  const programs = blocks.filter(({ language }) => language === 'ts');
  const commands = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) =>
      [...code.matchAll(/^npx idsmith (.*?)(?:\s+#.*)?$/gm)].map((match) => match[1] as string),
    )
    // A server runs until it is stopped; its own tests start it.
    .filter((command) => !command.startsWith('serve'));

  let printed: Printed[];
  beforeAll(() => {
    const files = programs.map(({ code, line }) => {
      const file = join(home, `${line}.mjs`);
      writeFileSync(file, transformSync(code, { loader: 'ts', format: 'esm', target: 'node20' }).code);
      return { file };
    });
    const steps = [...files, ...commands.map((command) => ({ command }))];
    printed = steps.length > 0 ? run(home, steps) : [];
  });

  it.each(programs.map((program, i) => ({ ...program, i })))(
    'has code at line $line that runs and prints what it says',
    ({ code, i }) => {
      const { status, stdout, stderr } = printed[i] as Printed;
      expect(stderr).toBe('');
      expect(status).toBe(0);
      expect(stdout.split('\n').slice(0, -1)).toEqual(promisedOutput(code));
    },
  );

  it.each(commands.map((command, i) => ({ command, i })))(
    'has the command "idsmith $command", which works',
    ({ command, i }) => {
      const { status, stdout } = printed[programs.length + i] as Printed;
      expect(status).toBe(0);
      // What is removed is not spoken of.
      if (!command.startsWith('seq remove')) expect(stdout).not.toBe('');
    },
  );

  it('has no link to a file that is not there', () => {
    const text = readFileSync(join(root, page), 'utf8');
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1] as string);
    for (const link of links) expect(() => readFileSync(join(root, page, '..', link))).not.toThrow();
  });
});

it('docs/faq.md names tests that are there', () => {
  const text = readFileSync(join(root, 'docs/faq.md'), 'utf8');
  const tests = [...text.matchAll(/\[([^\]]+)\]\(\.\.\/([^)]+\.test\.ts)\)/g)];
  expect(tests.length).toBeGreaterThan(15);
  const missing = tests.filter(([, name, file]) => !readFileSync(join(root, file!), 'utf8').includes(name!));
  expect(missing.map(([, name]) => name)).toEqual([]);
});
