// Private servers for the measurement, as the tests start them.

import { mkdtempSync, rmSync } from 'node:fs';
import { register } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from 'idsmith/stores';

register('../../test/chaos/typescript.mjs', import.meta.url);
const services = await import('../../test/services/index.ts');
// For dynalite, which takes any.
Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'bench', AWS_SECRET_ACCESS_KEY: 'bench' });

/** Every store by name: how to open it once more. `stop()` ends all of them. */
export async function startStores() {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-bench-'));
  const servers = {
    postgres: await services.startPostgres(),
    mariadb: await services.startMariadb(),
    redis: await services.startRedis(),
    etcd: await services.startEtcd(),
    dynamodb: await services.startDynalite(),
  };
  const urls = {
    sqlite: `sqlite:${join(folder, 'ids.db')}`,
    postgres: servers.postgres.url,
    mariadb: servers.mariadb.url,
    redis: servers.redis.url,
    dynamodb: `dynamodb://eu-west-1/ids?endpoint=${servers.dynamodb.url}`,
    etcd: servers.etcd.endpoints[0].replace('http', 'etcd'),
  };
  return {
    urls,
    open: (name) => openStore(urls[name]),
    async stop() {
      await Promise.all(Object.values(servers).map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
