// A process that runs tests with mutants, as its parent asks: `{ test, mutants }` in, what became of them out.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { createVitest } from 'vitest/node';
import { instrument, repeatTests } from './instrument.mjs';
import { loadModule, ROOT } from './modules.mjs';

const [name, progress] = process.argv.slice(2);
const { files, mutants } = loadModule(name);
const switchFile = fileURLToPath(new URL('switch.mjs', import.meta.url));

const mutating = {
  name: 'mutating',
  enforce: 'pre',
  transform(source, id) {
    const file = files.find((path) => id === join(ROOT, path));
    if (file)
      return instrument(
        source,
        mutants.filter((mutant) => mutant.file === file),
      );
    return /\.test\.ts$/.test(id) ? repeatTests(source) : undefined;
  },
};

const vitest = await createVitest(
  'test',
  {
    root: ROOT,
    watch: false,
    pool: 'threads',
    maxWorkers: 1,
    reporters: [{}],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    teardownTimeout: 1000,
    expect: { poll: { timeout: 5000, interval: 20 } },
    dangerouslyIgnoreUnhandledErrors: true,
    setupFiles: [switchFile],
  },
  { plugins: [mutating], resolve: { alias: { '#mutate/switch': switchFile } } },
);
const project = vitest.getRootProject();
project.provide('progress', progress);
project.provide('size', mutants.length + 1);

process.on('message', async ({ test, mutants: chosen, limit }) => {
  project.provide('mutants', chosen);
  project.provide('limit', limit);
  const path = join(ROOT, test);
  const { testModules } = await vitest.runTestSpecifications([project.createSpecification(path)]);
  const ran = testModules.find(({ moduleId }) => moduleId === path);
  process.send({ tests: [...ran.children.allTests()].map(summary), errors: ran.errors().map(message) });
});
process.on('disconnect', () => process.exit());
process.send('ready');

function summary(test) {
  const names = test.fullName.split(' > ');
  const { state, errors = [] } = test.result();
  return {
    number: Number(names[0].split(' ')[1]),
    name: names.slice(1).join(' > '),
    state,
    ms: test.diagnostic()?.duration ?? 0,
    reached: test.meta().reached,
    error: errors[0] && message(errors[0]),
  };
}

function message({ message: text = '' }) {
  return stripVTControlCharacters(text).slice(0, 200);
}
