import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What the tests may need on the machine. */
export type ServiceName =
  | ('redis' | 'postgres' | 'pgbouncer' | 'mariadb' | 'etcd' | 'etcdctl' | 'chromium' | 'faketime')
  | ('prometheus' | 'nginx' | 'galera' | 'patroni')
  | ('jdk' | 'mariadb-jdbc');

interface Service {
  readonly aptPackage: string;
  /** The programs needed, each with the names it goes by. */
  readonly programs: readonly (readonly string[])[];
}

const SERVICES: Record<ServiceName, Service> = {
  redis: { aptPackage: 'redis-server', programs: [['redis-server']] },
  postgres: { aptPackage: 'postgresql', programs: [['postgres'], ['initdb']] },
  pgbouncer: { aptPackage: 'pgbouncer', programs: [['pgbouncer']] },
  mariadb: { aptPackage: 'mariadb-server', programs: [['mariadbd'], ['mariadb-install-db']] },
  etcd: { aptPackage: 'etcd-server', programs: [['etcd']] },
  etcdctl: { aptPackage: 'etcd-client', programs: [['etcdctl']] },
  jdk: { aptPackage: 'default-jdk-headless', programs: [['javac'], ['java']] },
  'mariadb-jdbc': { aptPackage: 'libmariadb-java', programs: [['mariadb-java-client.jar']] },
  chromium: { aptPackage: 'chromium', programs: [['chromium', 'chromium-browser', 'google-chrome']] },
  faketime: { aptPackage: 'faketime', programs: [['faketime']] },
  prometheus: { aptPackage: 'prometheus', programs: [['prometheus'], ['promtool']] },
  // The rest of Galera comes with the MariaDB server.
  galera: { aptPackage: 'galera-4', programs: [['libgalera_smm.so']] },
  // Needs etcd and PostgreSQL, too.
  patroni: { aptPackage: 'patroni', programs: [['patroni']] },
  nginx: { aptPackage: 'nginx-light', programs: [['nginx']] },
};

/** The paths of a service's programs, in the order of `SERVICES`. */
export type Programs = readonly [string, ...string[]];

/** What decides whether a service can be used. */
export interface Surroundings {
  /** The folders in which programs are looked for. */
  readonly dirs: readonly string[];
  readonly canInstall: boolean;
  readonly isCi: boolean;
}

/** What to do about a service. */
export type Decision =
  | { readonly action: 'run'; readonly programs: Programs }
  | { readonly action: 'install'; readonly aptPackage: string }
  | { readonly action: 'skip' | 'fail'; readonly line: string };

/** The surroundings of this process. */
export function surroundings(env: NodeJS.ProcessEnv = process.env): Surroundings {
  // Debian keeps PostgreSQL's programs off the PATH, one folder per version, and mariadbd in /usr/sbin,
  // which is on root's PATH only.
  const postgres = '/usr/lib/postgresql';
  const versions = existsSync(postgres) ? readdirSync(postgres).sort((a, b) => Number(b) - Number(a)) : [];
  return {
    dirs: [
      ...(env.PATH ?? '').split(':').filter((dir) => dir !== ''),
      ...versions.map((version) => join(postgres, version, 'bin')),
      '/usr/sbin',
      // Libraries of Java.
      '/usr/share/java',
      '/usr/lib/galera',
    ],
    canInstall: process.getuid?.() === 0 && existsSync('/usr/bin/apt-get'),
    isCi: env.CI === 'true' || env.CI === '1',
  };
}

/** Tells whether a program can be run, or a library be read. */
function isUsable(path: string): boolean {
  try {
    accessSync(path, /\.(jar|so)$/.test(path) ? constants.R_OK : constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function find(names: readonly string[], dirs: readonly string[]): string | undefined {
  return names.flatMap((name) => dirs.map((dir) => join(dir, name))).find(isUsable);
}

/** Decides what to do about a service: use it, install it, skip its tests, or fail. */
export function decide(service: ServiceName, { dirs, canInstall, isCi }: Surroundings): Decision {
  const { aptPackage, programs } = SERVICES[service];
  const paths = programs.map((names) => find(names, dirs)).filter((path) => path !== undefined);
  const [first, ...others] = paths;
  if (first !== undefined && paths.length === programs.length)
    return { action: 'run', programs: [first, ...others] };
  if (canInstall) return { action: 'install', aptPackage };
  const missing = programs.filter((names) => !find(names, dirs)).map((names) => names[0]);
  const hint = `On Debian: apt-get install ${aptPackage}; elsewhere, put it on the PATH.`;
  return isCi
    ? { action: 'fail', line: `${service} is missing: no ${missing.join(' and no ')} found. ${hint}` }
    : { action: 'skip', line: `${service} tests skipped: no ${missing.join(' and no ')} found. ${hint}` };
}

async function install(aptPackage: string): Promise<void> {
  const script = fileURLToPath(new URL('./apt-install.sh', import.meta.url));
  process.stderr.write(`installing ${aptPackage} with apt-get\n`);
  try {
    // The lock is the kernel's, so that it cannot outlive a test process that was killed while it held it.
    await promisify(execFile)('flock', ['/tmp/idsmith-apt-install.lock', 'sh', script, aptPackage]);
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
  }
}

/** What came of a service: a decision after which there is nothing left to install. */
export type Outcome = Exclude<Decision, { action: 'install' }>;

async function findOrInstall(service: ServiceName, around: Surroundings): Promise<Outcome> {
  const decision = decide(service, around);
  if (decision.action !== 'install') return decision;
  await install(decision.aptPackage);
  return findOrInstall(service, { ...surroundings(), canInstall: false });
}

const outcomes = new Map<ServiceName, Promise<Outcome>>();

/** Finds a service, installing it if it is missing and can be installed. */
export function obtain(service: ServiceName): Promise<Outcome> {
  const outcome = outcomes.get(service) ?? findOrInstall(service, surroundings());
  outcomes.set(service, outcome);
  return outcome;
}

/** The paths of a service's programs, or an error that says how to get them. */
export async function programsOf(service: ServiceName): Promise<Programs> {
  const outcome = await obtain(service);
  if (outcome.action === 'run') return outcome.programs;
  throw new Error(outcome.line);
}
