// The reference: every exported name of every entry, from the comments in the code.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application } from 'typedoc';

export async function writeReference(root, out) {
  const library = join(root, 'packages/idsmith');
  const { exports } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8'));
  const entryPoints = Object.values(exports)
    .filter((entry) => entry.types !== undefined)
    .map(({ types }) => join(library, types.replace('./dist/', 'src/').replace('.d.ts', '.ts')));
  const app = await Application.bootstrapWithPlugins({
    entryPoints,
    tsconfig: join(library, 'tsconfig.json'),
    // The code is checked by the compiler of the project, which is newer than this one.
    skipErrorChecking: true,
    plugin: ['typedoc-plugin-markdown'],
    readme: 'none',
    excludeInternal: true,
    excludePrivate: true,
    disableSources: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    entryFileName: 'index',
    outputs: [{ name: 'markdown', path: out }],
    basePath: join(library, 'src'),
    logLevel: 'Warn',
    validation: { notExported: false, invalidLink: true, notDocumented: false },
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('the reference could not be read from the code');
  // A module is called as programs import it.
  for (const module of project.children) {
    module.name = module.name === 'index' ? 'idsmith' : `idsmith/${module.name}`;
  }
  await app.generateOutputs(project);
}
