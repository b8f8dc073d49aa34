// node statements.mjs PORT FOLDER: a Worker, bundled as FOLDER/worker.mjs, with a D1 database and a Durable Object that keep their data in the
// folder. A process of its own, so that a test can kill and stop it with all that it has started.

import { readFileSync } from 'node:fs';
import process from 'node:process';
import { Miniflare } from 'miniflare';

const [, , port, folder] = process.argv;
const worker = new Miniflare({
  host: '127.0.0.1',
  port: Number(port),
  modules: [{ type: 'ESModule', path: 'worker.mjs', contents: readFileSync(`${folder}/worker.mjs`, 'utf8') }],
  compatibilityDate: '2026-04-01',
  d1Databases: { DB: 'ids' },
  d1Persist: `${folder}/d1`,
  durableObjects: { IDS: { className: 'IdStoreObject', useSQLite: true } },
  durableObjectsPersist: `${folder}/objects`,
});
process.on('SIGTERM', () => worker.dispose().then(() => process.exit(0)));
await worker.ready;
