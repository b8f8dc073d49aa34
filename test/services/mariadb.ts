import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Programs, programsOf } from './binaries.ts';
import { startTogether } from './group.ts';
import { makeFolder } from './guard.ts';
import { type Ports, withFreePorts } from './ports.ts';
import { ask } from './probe.ts';
import { ServerProcess } from './process.ts';
import { unprivilegedUser } from './run-as.ts';
import type { CommandLine } from './server-spec.ts';

const PROTOCOL_10 = 10;

/** How to start a MariaDB server. */
export interface MariadbOptions {
  /** More arguments for `mariadbd`. */
  args?: readonly string[];
  /** More variables of its environment. */
  env?: Record<string, string>;
  /** The file of the network namespace in which it runs. */
  network?: string;
}

/** Describes a MariaDB server in a new folder. `ports` begins with the one for clients. */
export function mariadbServer(
  [mariadbd, installDb]: Programs,
  ports: Ports,
  { args = [], env = {}, network }: MariadbOptions,
  started: (run: CommandLine, dir: string) => CommandLine = (run) => run,
): ServerProcess {
  const user = unprivilegedUser('mysql');
  const [port] = ports;
  const dir = makeFolder('mariadb', user);
  const initFile = join(dir, 'init.sql');
  writeFileSync(initFile, 'CREATE DATABASE IF NOT EXISTS test;\n');
  // --no-defaults has to come first: nothing of the machine's own configuration applies.
  const common = ['--no-defaults', `--datadir=${join(dir, 'data')}`, '--innodb-log-file-size=16M'];
  const run: CommandLine = [
    mariadbd,
    ...common,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    '--skip-name-resolve',
    `--socket=${join(dir, 'socket')}`,
    `--pid-file=${join(dir, 'pid')}`,
    `--tmpdir=${dir}`,
    `--init-file=${initFile}`,
    '--character-set-server=utf8mb4',
    // A commit reaches the kernel, so that it survives kill -9 of the server, but not yet the disk.
    '--innodb-flush-method=nosync',
    ...args,
  ];
  return new ServerProcess({
    name: 'mariadb',
    dir,
    ports,
    url: `mysql://root@127.0.0.1:${port}/test`,
    prepare: [
      installDb!,
      ...common,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      '--skip-name-resolve',
    ],
    run: started(run, dir),
    user,
    network,
    env,
    answers: () => greets(port),
  });
}

/** Starts a private MariaDB server: user `root` without a password, database `test`. */
export async function startMariadb(options: MariadbOptions = {}): Promise<ServerProcess> {
  const programs = await programsOf('mariadb');
  return withFreePorts(1, async (ports) => {
    const server = mariadbServer(programs, ports, options);
    await startTogether([server]);
    return server;
  });
}

// The server speaks first: a packet of three bytes of length, one of sequence, then the protocol's version.
async function greets(port: number): Promise<boolean> {
  const greeting = await ask(port, '', (answer) => answer.length > 4);
  return greeting[4] === PROTOCOL_10;
}
