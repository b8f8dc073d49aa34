// Module hooks that let Node 20 import TypeScript, one file at a time, so that files find what lies beside them, and that
// resolve the alias of the test services.
import { readFileSync } from 'node:fs';
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
  if (!specifier.startsWith('#services')) return next(specifier, context);
  return { url: new URL(`./services/${file ?? 'index.ts'}`, import.meta.url).href, shortCircuit: true };
}
