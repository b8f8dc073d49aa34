import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { endPrograms, Program } from '../examples/program.ts';
import { makeFolder, removeFolder } from '../services/guard.ts';
import { describeWith, type ServerProcess, startPostgres } from '../services/index.ts';
import { all, command, type Instruction, stagesOf } from './dockerfile.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');

// Runs the steps of the Dockerfile in a plain folder instead of an image. The folder stands for "/". The tests run in a checkout where
// `npm ci` has been run, so that this step is done.
await describeWith(['postgres'], 'The Dockerfile and the compose file', () => {
  const [build = [], image = []] = stagesOf(read('Dockerfile'));
  const compose = parse(read('compose.yaml'), { merge: true });
  let folder: string;
  let postgres: ServerProcess;
  let env: Record<string, string>;

  /** Paths of the image, in the folder. */
  const here = (text: string) => text.replace(/(?<![\w.:/])\/(app|data|packed)\b/g, `${folder}/$1`);
  const pathsIn = (value: string) => value.replace(/(^|:)\/(app|data)\b/g, `$1${folder}/$2`);

  function runSteps(stage: Instruction[], cwd: string): void {
    for (const step of all(stage, 'RUN')) {
      if (step === 'npm ci') continue;
      // A user of the image does not exist here.
      const shell = here(step).replace(/ && chown .*$/, '');
      execFileSync('sh', ['-ec', shell], { cwd, env: { ...process.env, DRIVERS: 'pg' }, stdio: 'pipe' });
    }
  }

  beforeAll(async () => {
    folder = makeFolder('docker');
    postgres = await startPostgres();
    execFileSync('mkdir', ['-p', join(folder, 'app')]);
    runSteps(build, root);
    runSteps(image, join(folder, 'app'));
    const variables = all(image, 'ENV').map((pair): [string, string] => {
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      return [name, pathsIn(value)];
    });
    const store = String(compose.services.idsmith.environment.IDSMITH_STORE);
    expect(store).toMatch(/^postgres:\/\/ids:\$\{POSTGRES_PASSWORD\}@postgres\/ids$/);
    env = { ...Object.fromEntries(variables), IDSMITH_STORE: postgres.url, IDSMITH_PORT: '0' };
  }, 300_000);
  afterAll(async () => {
    await endPrograms();
    await postgres?.stop();
    if (folder) await removeFolder(folder);
  });

  /** The program of the image, with these arguments instead of its own. */
  function entry(args: string[]): [file: string, args: string[]] {
    const [node, file = '', ...more] = command(image, 'ENTRYPOINT').map(here);
    expect(node).toBe('node');
    return [file, [...more, ...args]];
  }
  const runOnce = (args: string[]) => {
    const [file, all] = entry(args);
    return spawnSync(process.execPath, [file, ...all], {
      encoding: 'utf8',
      cwd: join(folder, 'data'),
      env: { ...process.env, ...env },
    });
  };

  it('does not serve beyond the machine before there is a token, and says how to make one', () => {
    const { status, stderr } = runOnce(command(image, 'CMD'));
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/token create/);
  });

  it('serves ids from the store of the compose file, is healthy, and ends in order', async () => {
    const { stdout: token } = runOnce(['token', 'create', '--scope', 'mint', '--name', 'app']);
    const [file, args] = entry(command(image, 'CMD'));
    const server = new Program(file, { args, env });
    const port = /:(\d+)/.exec(await server.line())?.[1];
    const health = command(image, 'HEALTHCHECK');
    expect(health[0]).toBe('node');
    const check = (at: string) =>
      spawnSync(process.execPath, health.slice(1), { env: { ...process.env, IDSMITH_PORT: at } }).status;
    await expect.poll(() => check(String(port)), { timeout: 20_000 }).toBe(0);
    const answer = await fetch(`http://127.0.0.1:${port}/v1/flakes?count=3`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.trim()}` },
    });
    expect(answer.status).toBe(200);
    expect(new Set(((await answer.json()) as { ids: string[] }).ids).size).toBe(3);
    expect(await server.end('SIGTERM')).toBe(0);
    expect(check(String(port))).toBe(1);
  });

  it('have what the other needs', () => {
    const { idsmith, postgres: database } = compose.services;
    expect(Object.keys(compose.volumes).sort()).toEqual(['postgres', 'tokens']);
    expect(idsmith.volumes).toEqual([`tokens:${all(image, 'VOLUME')[0]}`]);
    expect(idsmith.ports[0]).toContain(`:${all(image, 'EXPOSE')[0]}`);
    expect(idsmith.depends_on.postgres.condition).toBe('service_healthy');
    expect(database.healthcheck.test[0]).toBe('CMD');
  });
});
