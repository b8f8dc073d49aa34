import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from './guard.ts';
import { withFreePorts } from './ports.ts';
import { ServerProcess } from './process.ts';

const SERVER = fileURLToPath(new URL('./dynalite-server.mjs', import.meta.url));

/** DynamoDB's stand-in, with its data in a folder so that it can be restarted. It takes any credentials. */
export async function startDynalite(): Promise<ServerProcess> {
  const program = createRequire(import.meta.url).resolve('dynalite');
  return withFreePorts(1, async (ports) => {
    const dir = makeFolder('dynalite');
    const url = `http://127.0.0.1:${ports[0]}`;
    const options = { host: '127.0.0.1', port: ports[0], path: join(dir, 'data'), createTableMs: 100 };
    const dynalite = new ServerProcess({
      name: 'dynalite',
      dir,
      ports,
      url,
      run: [process.execPath, SERVER, program, JSON.stringify(options)],
      // Any answer will do, and to this question it is an error.
      answers: async () => (await fetch(url, { signal: AbortSignal.timeout(1000) })).status > 0,
    });
    await dynalite.start();
    return dynalite;
  });
}
