// Private servers for the measurement, as the tests start them.

import { register } from 'node:module';
import { openStore } from 'idsmith/stores';

register('../../test/typescript.mjs', import.meta.url);
const { STORE_SERVERS } = await import('../../test/services/index.ts');

/** Every store by name: how to open it once more. `stop()` ends all of them. */
export async function startStores() {
  const servers = {};
  for (const [name, , start] of STORE_SERVERS) servers[name] = await start();
  return {
    names: Object.keys(servers),
    urlOf: (name) => servers[name].url,
    open: (name) => openStore(servers[name].url),
    stop: () => Promise.all(Object.values(servers).map((server) => server.stop())),
  };
}
