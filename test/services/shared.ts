import { inject } from 'vitest';
import type { SharedName } from './shared-servers.ts';
import { initialised, type StoreServer } from './store-servers.ts';

/**
 * A place of its own in a server that the files of a run share: a database, a database number, a table, a prefix, a browser. For tests
 * that neither stop the server nor change its settings. `stop` removes the place.
 */
export async function shared(kind: SharedName): Promise<StoreServer> {
  // DynamoDB's stand-in takes any, but the driver wants some.
  if (kind === 'dynamodb')
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
  const { name, url } = await ask('POST', kind);
  if (kind === 'redis') await initialised({ url });
  return { url, stop: () => ask('DELETE', `${kind}/${name}`) };
}

async function ask(method: string, path: string): Promise<{ name: string; url: string }> {
  // A connection that is kept may have ended while a test held up the process.
  const headers = { connection: 'close' };
  const answer = await fetch(`${inject('sharedServers')}/${path}`, { method, headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${text}`);
  return JSON.parse(text);
}
