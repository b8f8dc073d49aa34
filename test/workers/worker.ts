import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare, type WorkerOptions } from 'miniflare';

const here = fileURLToPath(new URL('.', import.meta.url));

/** A program as one module, made as `wrangler` makes it: no Node built-ins, and the conditions of a Worker. */
export async function bundled(program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: here, loader: 'js' },
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['browser', 'module', 'main'],
    conditions: ['workerd', 'worker', 'browser'],
    // The drivers of the project lie above this folder. Those who deploy a Worker have none of them.
    external: ['cloudflare:*', 'pg', 'mysql2', 'libsql', 'redis', 'ioredis', '@aws-sdk/*'],
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

/** Starts a Worker in `workerd`. A module that must not be loaded there is an error of `ready`. */
export async function startWorker(program: string, options: Partial<WorkerOptions> = {}): Promise<Miniflare> {
  const worker = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents: await bundled(program) }],
    compatibilityDate: '2026-04-01',
    ...options,
  } as WorkerOptions);
  await worker.ready;
  return worker;
}

/** The JSON that a Worker answers. */
export async function ask<T>(worker: Miniflare, path = '/'): Promise<T> {
  const response = await worker.dispatchFetch(`http://worker${path}`);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text) as T;
}
