import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { programsOf } from './binaries.ts';
import { startTogether } from './group.ts';
import { makeFolder } from './guard.ts';
import { withFreePorts } from './ports.ts';
import { ask } from './probe.ts';
import { ServerProcess } from './process.ts';
import { unprivilegedUser } from './run-as.ts';

/** How to start a PostgreSQL server. */
export interface PostgresOptions {
  /** More arguments for `postgres`, such as `['-c', 'max_connections=300']`. */
  args?: readonly string[];
  /** More variables of its environment. */
  env?: Record<string, string>;
  /** Another server whose data this one begins with: as its standby, or as a server of its own from a base backup. */
  from?: { readonly server: ServerProcess; readonly as: 'standby' | 'copy' };
  /** Whether it gets a system identifier of its own. Otherwise all servers of a run have the same one: their first data are copies. */
  isOther?: boolean;
}

/** Starts a private PostgreSQL server: superuser `postgres` without a password, database `postgres`. */
export async function startPostgres({
  args = [],
  env = {},
  from,
  isOther = false,
}: PostgresOptions = {}): Promise<ServerProcess> {
  const [postgres, initdb] = await programsOf('postgres');
  const user = unprivilegedUser('postgres');
  return withFreePorts(1, async ([port]) => {
    const dir = makeFolder('postgres', user);
    const data = join(dir, 'data');
    const settings = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      // Only a crash of the whole machine could lose or tear data now; kill -9 of the server cannot.
      fsync: 'off',
      // In the folder instead of /dev/shm, where kill -9 would leave it behind.
      dynamic_shared_memory_type: 'mmap',
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const locale = ['--encoding', 'UTF8', '--locale', 'C'];
    const server = new ServerProcess({
      name: 'postgres',
      dir,
      ports: [port],
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      prepare: from
        ? [
            await postgresTool('pg_basebackup'),
            '--pgdata',
            data,
            '--dbname',
            from.server.url,
            '--checkpoint=fast',
            '--no-sync',
            ...(from.as === 'standby' ? ['--write-recovery-conf'] : []),
          ]
        : [initdb!, '--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--no-sync', ...locale],
      isCopy: from !== undefined || isOther,
      run: [postgres, '-D', data, ...options, ...args],
      user,
      env,
      // "Fast" shutdown; SIGTERM would wait until every client has gone.
      stopSignal: 'SIGINT',
      drainSignal: 'SIGTERM',
      answers: () => acceptsSessions(port),
      cleanUp: () => removeSharedMemory(data),
    });
    await startTogether([server]);
    return server;
  });
}

/** The path of a program that comes with the server, such as `pg_dump`. The server itself may be found by a link. */
export async function postgresTool(name: string): Promise<string> {
  const [postgres] = await programsOf('postgres');
  return join(dirname(realpathSync(postgres)), name);
}

/** Opens a session. A server that is still starting or recovering refuses it with an error instead. */
export async function acceptsSessions(port: number): Promise<boolean> {
  const parameters = Buffer.from('user\0postgres\0database\0postgres\0\0');
  const header = Buffer.alloc(8);
  header.writeInt32BE(header.length + parameters.length, 0);
  header.writeInt32BE(0x0003_0000, 4);
  const readyForQuery = Buffer.from('Z\0\0\0\x05I', 'latin1');
  await ask(port, Buffer.concat([header, parameters]), (answer) => answer.includes(readyForQuery));
  return true;
}

// After kill -9 a small System V segment remains until the next start; its number is in postmaster.pid,
// which in turn is only there if the server did not end in an orderly way.
function removeSharedMemory(data: string): void {
  const pidFile = join(data, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const id = readFileSync(pidFile, 'utf8').split('\n')[6]?.trim().split(/\s+/)[1];
  if (id) spawnSync('ipcrm', ['-m', id]);
}
