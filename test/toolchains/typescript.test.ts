import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { depth } from '../depth.ts';
import { EVERY_FLAG, STRICT } from '../strict-program.ts';
import { UserFolder } from './user-folder.ts';

/** The compilers of users, by their folders. */
const COMPILERS = ['5.4', '5.5', '5.6', '5.7', '5.8', '5.9', '6', '7'] as const;
type Compiler = (typeof COMPILERS)[number];
const folderOf = (version: Compiler) => (version === '5.9' ? 'typescript' : `typescript-${version}`);
const isBefore = (version: Compiler, other: Compiler) =>
  COMPILERS.indexOf(version) < COMPILERS.indexOf(other);

let project: UserFolder;
beforeAll(() => {
  project = new UserFolder({});
});
afterAll(() => project?.remove());

/** The complaints of a compiler about a program, in strict mode. */
function complaints(
  version: Compiler,
  file: string,
  program: string,
  options: Record<string, unknown>,
): string {
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'dom'],
    strict: true,
    noEmit: true,
    types: [],
    skipLibCheck: false,
    // The types of the language are the compiler's own.
    skipDefaultLibCheck: true,
    ...options,
  };
  project.write(file, program);
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: [file] }));
  const { status, said } = project.run(`${folderOf(version)}/bin/tsc`, ['-p', '.']);
  return status === 0 ? said : said || `the compiler ended with ${status}`;
}

const node10 = (version: Compiler) => ({
  module: 'commonjs',
  moduleResolution: 'node10',
  // Version 6 takes it for the last time.
  ...(version === '6' && { ignoreDeprecations: '6.0' }),
});

/** The oldest and the newest, and the first that loads ES modules by `require`. `npm run test:long` has all of them. */
const TRIED = COMPILERS.filter((version) => depth > 0 || ['5.4', '5.8', '7'].includes(version));

describe.each(TRIED)('TypeScript %s', (version) => {
  it.each(['nodenext', 'bundler'])('accepts the strict program under every flag, with %s', (resolution) => {
    const modules = {
      module: resolution === 'bundler' ? 'esnext' : resolution,
      moduleResolution: resolution,
    };
    expect(complaints(version, 'program.mts', STRICT, { ...modules, ...EVERY_FLAG })).toBe('');
  });

  // A file .ts in a folder whose package.json does not say "type": "module" is CommonJS.
  const { verbatimModuleSyntax: _, ...FLAGS } = EVERY_FLAG;

  it('accepts it in a CommonJS project with nodenext from 5.8 on, and names TS1479 before', () => {
    const modules = { module: 'nodenext', moduleResolution: 'nodenext' };
    const said = complaints(version, 'program.ts', STRICT, { ...modules, ...FLAGS });
    if (isBefore(version, '5.8')) expect(said).toContain('TS1479');
    else expect(said).toBe('');
  });

  it('names TS1479 in a CommonJS project with node16, where import() compiles', () => {
    const modules = { module: 'node16', moduleResolution: 'node16' };
    expect(complaints(version, 'program.ts', STRICT, { ...modules, ...FLAGS })).toContain('TS1479');
    const later = `export const main = async () => (await import('idsmith/uuid7')).uuid7().length;`;
    expect(complaints(version, 'program.ts', later, modules)).toBe('');
  });

  // Version 7 has no node10.
  if (version !== '7')
    it('accepts it in a CommonJS project with node10', () => {
      expect(complaints(version, 'program.ts', STRICT, { ...FLAGS, ...node10(version) })).toBe('');
    });
});
