import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decide, programsOf, type ServiceName, surroundings } from './binaries.ts';
import { startTogether } from './group.ts';
import { folderRoot, makeFolder, removeFolder } from './guard.ts';
import { describeWith, startRedis } from './index.ts';
import { withFreePorts } from './ports.ts';
import { isRunning, processTree } from './process-tree.mjs';
import { redisServer } from './redis.ts';

describe('A service that is missing', () => {
  const packages: Record<ServiceName, string> = {
    redis: 'redis-server',
    postgres: 'postgresql',
    pgbouncer: 'pgbouncer',
    mariadb: 'mariadb-server',
    etcd: 'etcd-server',
    etcdctl: 'etcd-client',
    jdk: 'default-jdk-headless',
    'mariadb-jdbc': 'libmariadb-java',
    chromium: 'chromium',
    faketime: 'faketime',
    prometheus: 'prometheus',
    galera: 'galera-4',
    patroni: 'patroni',
    nginx: 'nginx-light',
  };
  const bare = { ...surroundings({ PATH: '/nowhere' }), dirs: ['/nowhere'], canInstall: false };

  for (const [service, aptPackage] of Object.entries(packages) as [ServiceName, string][]) {
    it(`is installed as ${aptPackage} by root on Debian, even in CI (${service})`, () => {
      const decision = { action: 'install', aptPackage };
      expect(decide(service, { ...bare, canInstall: true })).toEqual(decision);
      expect(decide(service, { ...bare, canInstall: true, isCi: true })).toEqual(decision);
    });

    it(`skips its tests with a line that names ${aptPackage} (${service})`, () => {
      const decision = decide(service, bare);
      expect(decision).toMatchObject({
        action: 'skip',
        line: expect.stringContaining(`install ${aptPackage};`),
      });
    });

    it(`is an error in CI (${service})`, () => {
      const isCi = surroundings({ PATH: '/nowhere', CI: 'true' }).isCi;
      expect(decide(service, { ...bare, isCi })).toMatchObject({ action: 'fail' });
    });
  }
});

await describeWith(['redis'], 'A server that cannot start', () => {
  it('reports the end of its log and leaves no folder', async () => {
    const folders = () =>
      readdirSync(folderRoot()).filter((name) => name.startsWith(`idsmith-${process.pid}-`));
    const before = folders();
    await expect(startRedis({ args: ['--no-such-setting', 'yes'] })).rejects.toThrow(/Bad directive/);
    expect(folders()).toEqual(before);
  });

  it('gets another port when its own is taken at the last moment', async () => {
    const [program] = await programsOf('redis');
    const tried: number[] = [];
    const intruder = createServer();
    const redis = await withFreePorts(1, async (ports) => {
      tried.push(ports[0]);
      if (tried.length === 1) await once(intruder.listen(ports[0], '127.0.0.1'), 'listening');
      const server = redisServer(program, ports, {});
      await startTogether([server]);
      return server;
    });
    expect(tried).toHaveLength(2);
    expect(redis.port).toBe(tried[1]);
    intruder.close();
    await redis.stop();
  });
});

await describeWith(['redis', 'postgres'], 'When the process that started servers ends', () => {
  let folder: string;

  // Node 20 cannot run TypeScript, so the owner is bundled; the URL leads it to the watchdog's real place.
  beforeAll(async () => {
    folder = makeFolder('owner');
    const contents = `
      import { Networks } from './networks.ts';
      import { startPostgres } from './postgres.ts';
      import { startRedis } from './redis.ts';
      const [redis, paused, postgres] = await Promise.all([startRedis(), startRedis(), startPostgres()]);
      paused.pause();
      // Where they are not allowed, there is nothing to stay.
      await Networks.open(2).catch(() => undefined);
      console.log(JSON.stringify([redis, paused, postgres].map(({ dir }) => dir)));
      process.on('SIGUSR2', () => { throw new Error('uncaught'); });
      process.on('SIGHUP', () => process.exit());
      setInterval(() => {}, 1000);
    `;
    await build({
      stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
      outfile: join(folder, 'owner.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      define: { 'import.meta.url': JSON.stringify(pathToFileURL(import.meta.filename)) },
    });
  });

  afterAll(() => removeFolder(folder));

  async function firstLine(owner: ChildProcess): Promise<string> {
    const [line] = await once(createInterface({ input: owner.stdout! }), 'line');
    return line as string;
  }

  it.each([
    ['with kill -9', 'SIGKILL'],
    ['by an interrupt', 'SIGINT'],
    ['by SIGTERM', 'SIGTERM'],
    ['by an uncaught exception', 'SIGUSR2'],
    ['by process.exit', 'SIGHUP'],
  ] as const)('%s, nothing of them stays', async (_, signal) => {
    const owner = spawn(process.execPath, [join(folder, 'owner.mjs')], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const dirs = JSON.parse(await firstLine(owner)) as string[];
    const started = processTree(owner.pid!).slice(1);
    // Two times Redis, PostgreSQL with its helpers, the watchdog, and what keeps networks. These have no names, so they end with their processes.
    expect(started.length).toBeGreaterThan(4);
    owner.kill(signal);
    await expect.poll(() => started.filter(isRunning)).toEqual([]);
    expect(dirs.filter((dir) => existsSync(dir))).toEqual([]);
  });
});
