import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';

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

function run(
  home: string,
  name: string,
  args: string[],
): { status: number | null; stdout: string; stderr: string } {
  // Code for a service takes its store from the environment.
  const env = { ...process.env, STORE_URL: 'memory:' };
  return spawnSync(process.execPath, [join(root, name), ...args], { cwd: home, env, encoding: 'utf8' });
}

/** Every page of the project. */
const examples = readdirSync(join(root, 'examples')).map((name) => join('examples', name));
const pages = [
  ...['.', 'docs', ...examples],
  ...['server', 'console', 'fastify', 'nest'].map((name) => join('packages', name)),
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

  it.each(blocks.filter(({ language }) => language === 'ts'))(
    'has code at line $line that runs and prints what it says',
    ({ code, line }) => {
      const file = join(home, `${line}.mjs`);
      writeFileSync(file, transformSync(code, { loader: 'ts', format: 'esm', target: 'node20' }).code);
      const { status, stdout, stderr } = run(home, relative(root, file), []);
      expect(stderr).toBe('');
      expect(status).toBe(0);
      expect(stdout.split('\n').slice(0, -1)).toEqual(promisedOutput(code));
    },
  );

  const commands = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) =>
      [...code.matchAll(/^npx idsmith (.*?)(?:\s+#.*)?$/gm)].map((match) => match[1] as string),
    )
    // A server runs until it is stopped; its own tests start it.
    .filter((command) => !command.startsWith('serve'));

  it.each(commands)('has the command "idsmith %s", which works', (command) => {
    const { status, stdout } = run(home, 'packages/idsmith/bin/idsmith.js', command.split(' '));
    expect(status).toBe(0);
    // What is removed is not spoken of.
    if (!command.startsWith('seq remove')) expect(stdout).not.toBe('');
  });

  it('has no link to a file that is not there', () => {
    const text = readFileSync(join(root, page), 'utf8');
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1] as string);
    for (const link of links) expect(() => readFileSync(join(root, page, '..', link))).not.toThrow();
  });
});
