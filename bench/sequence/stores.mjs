// Private servers for the measurement, as the tests start them.

import { mkdtempSync, rmSync } from 'node:fs';
import { register } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from 'idsmith/stores';

register('../../test/chaos/typescript.mjs', import.meta.url);
const services = await import('../../test/services/index.ts');

/** Every store by name: how to open it once more. `stop()` ends all of them. */
export async function startStores() {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-bench-'));
  const servers = {
    postgres: await services.startPostgres(),
    mariadb: await services.startMariadb(),
    redis: await services.startRedis(),
    etcd: await services.startEtcd(),
  };
  const dynamodb = await startDynalite();
  const urls = {
    sqlite: `sqlite:${join(folder, 'ids.db')}`,
    postgres: servers.postgres.url,
    mariadb: servers.mariadb.url,
    redis: servers.redis.url,
    dynamodb: dynamodb.url,
    etcd: servers.etcd.url.replace(/^http/, 'etcd'),
  };
  return {
    urls,
    open: (name) => openStore(urls[name]),
    async stop() {
      await dynamodb.stop();
      await Promise.all(Object.values(servers).map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startDynalite() {
  const { default: dynalite } = await import('dynalite');
  const server = dynalite({ createTableMs: 0 });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env.AWS_ACCESS_KEY_ID ??= 'bench';
  process.env.AWS_SECRET_ACCESS_KEY ??= 'bench';
  const endpoint = `http://127.0.0.1:${server.address().port}`;
  return {
    url: `dynamodb://eu-central-1/ids?endpoint=${encodeURIComponent(endpoint)}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
