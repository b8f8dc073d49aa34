import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '../services/guard.ts';
import { withFreePorts } from '../services/ports.ts';
import { ServerProcess } from '../services/process.ts';
import { bundled } from './worker.ts';

const script = fileURLToPath(new URL('statements.mjs', import.meta.url));

/** Runs the statements that come from outside on its D1 database and on its object, for the stores of remote-store.mjs. */
const PROGRAM = `
  export { IdStoreObject } from 'idsmith/stores/cloudflare';
  const routes = {
    async '/d1'(request, env) {
      const { sql, values } = await request.json();
      return Response.json((await env.DB.prepare(sql).bind(...values).all()).results);
    },
    async '/object'(request, env) {
      const stub = env.IDS.get(env.IDS.idFromName('ids'));
      return stub.fetch(request.headers.get('x-url'), { method: 'POST', body: await request.text() });
    },
  };
  export default {
    async fetch(request, env) {
      const route = routes[new URL(request.url).pathname];
      if (route === undefined) return new Response('ready');
      try {
        return await route(request, env);
      } catch ({ message, retryable }) {
        return Response.json({ message, retryable }, { status: 503 });
      }
    },
  };`;

/** Starts a Worker in \`workerd\` that keeps its data when it is killed and started again. */
export const startStatements = () =>
  withFreePorts(1, async ([port]) => {
    const dir = makeFolder('statements');
    writeFileSync(`${dir}/worker.mjs`, await bundled(PROGRAM));
    const url = `http://127.0.0.1:${port}`;
    const server = new ServerProcess({
      name: 'statements',
      dir,
      ports: [port],
      url,
      run: [process.execPath, script, String(port), dir],
      answers: async () => (await fetch(url, { signal: AbortSignal.timeout(1000) })).ok,
    });
    await server.start();
    return server;
  });
