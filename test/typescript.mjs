// Module hooks that let Node 20 import TypeScript, one file at a time, so that files find what lies beside them, and that
// resolve the alias of the test services and the names that sources have for each other.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), {
    loader: 'ts',
    target: 'node20',
  });
  return { format: 'module', source: code, shortCircuit: true };
}

export async function resolve(specifier, context, next) {
  const [, file] = /^#services(?:\/(.*))?$/.exec(specifier) ?? [];
  if (!specifier.startsWith('#services')) return next(sourceOf(specifier, context.parentURL), context);
  return { url: new URL(`./services/${file ?? 'index.ts'}`, import.meta.url).href, shortCircuit: true };
}

/** Sources name the files that they are compiled to. */
function sourceOf(specifier, parent = '') {
  const source = specifier.replace(/\.js$/, '.ts');
  const isSource = parent.endsWith('.ts') && specifier.startsWith('.') && existsSync(new URL(source, parent));
  return isSource ? source : specifier;
}
