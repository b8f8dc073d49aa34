// A module hook that lets Node 20 import TypeScript, one file at a time, so that files find what lies beside them.
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
