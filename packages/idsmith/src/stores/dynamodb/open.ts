import { InvalidOptionError } from '../../errors.js';
import type { DisposableStore } from '../store.js';
import { requireSettings } from '../url.js';
import { loadSdk } from './connection.js';
import { storeOn } from './store.js';

/**
 * The store of a URL like `dynamodb://eu-west-1/table?endpoint=http://localhost:8000&hashKey=id`, with a client of its own that
 * `close()` ends. The AWS SDK finds the credentials; the URL has none.
 *
 * @throws InvalidOptionError when the URL is not of that form
 * @throws StoreError when `@aws-sdk/client-dynamodb` is not installed
 */
export async function openDynamodb(url: string): Promise<DisposableStore> {
  const { region, table, endpoint, hashKey } = parseUrl(url);
  const { DynamoDBClient } = await loadSdk();
  const client = new DynamoDBClient({ region, ...(endpoint !== undefined && { endpoint }) });
  return storeOn(
    client,
    { table, ...(hashKey !== undefined && { hashKey }) },
    { at: endpoint === undefined ? region : new URL(endpoint).host, end: () => client.destroy() },
  );
}

function parseUrl(url: string) {
  // The message does not show the URL: someone may have put a secret into it.
  const form = 'dynamodb://region/table?endpoint=http://host:8000&hashKey=id, without credentials';
  const [, region, table, query] = /^dynamodb:\/\/([\w-]+)\/([\w.-]+)(?:\?([^#]*))?$/i.exec(url) ?? [];
  if (region === undefined || table === undefined)
    throw new InvalidOptionError(`a DynamoDB URL must look like ${form}`);
  const settings = new URLSearchParams(query);
  requireSettings('a DynamoDB URL', settings, ['endpoint', 'hashKey']);
  const endpoint = settings.get('endpoint') ?? undefined;
  if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:\/\/[^@]*$/.test(endpoint)))
    throw new InvalidOptionError('endpoint must be an http or https URL without credentials');
  return { region, table, endpoint, hashKey: settings.get('hashKey') ?? undefined };
}
