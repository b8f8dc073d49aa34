import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programsOf } from './binaries.ts';
import { startTogether } from './group.ts';
import { makeFolder } from './guard.ts';
import { withFreePorts } from './ports.ts';
import { acceptsSessions } from './postgres.ts';
import { ServerProcess } from './process.ts';
import { unprivilegedUser } from './run-as.ts';

/** How to start PgBouncer. */
export interface PgbouncerOptions {
  /** How many connections to PostgreSQL all clients share. */
  readonly poolSize?: number;
}

/** Starts a private PgBouncer in transaction mode, in front of a PostgreSQL on this machine. */
export async function startPgbouncer(
  postgres: { readonly port: number },
  { poolSize = 3 }: PgbouncerOptions = {},
): Promise<ServerProcess> {
  const [pgbouncer] = await programsOf('pgbouncer');
  const user = unprivilegedUser('postgres');
  return withFreePorts(1, async ([port]) => {
    const dir = makeFolder('pgbouncer', user);
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'any',
      pool_mode: 'transaction',
      default_pool_size: poolSize,
      max_client_conn: 500,
      // A server that is away is asked again soon after its return.
      server_login_retry: 1,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    const database = `* = host=127.0.0.1 port=${postgres.port} user=postgres`;
    const file = join(dir, 'pgbouncer.ini');
    writeFileSync(file, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'));
    const server = new ServerProcess({
      name: 'pgbouncer',
      dir,
      ports: [port],
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      run: [pgbouncer, file],
      user,
      stopSignal: 'SIGINT',
      answers: () => acceptsSessions(port),
    });
    await startTogether([server]);
    return server;
  });
}
