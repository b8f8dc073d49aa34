// A function on AWS Lambda. An instance handles one request at a time, is frozen between requests, and may be thrown away frozen.

import process from 'node:process';
import { connect } from 'idsmith/connect';

// Short: an instance that is thrown away holds its node id no longer than this.
const TTL = Number(process.env.LEASE_TTL ?? 10_000);

let opening;

/** The generator of this instance, leased by its first request. */
function orders() {
  opening ??= open().catch((error) => {
    opening = undefined; // the next request tries again
    throw error;
  });
  return opening;
}

async function open() {
  const ids = await connect(process.env.STORE_URL);
  // Lambda sends SIGTERM only to functions with an extension. Without one, the lease expires.
  process.once('SIGTERM', () => ids.close().finally(() => process.exit(0)));
  return ids.flakes('orders', { ttl: TTL });
}

export async function handler() {
  const generator = await orders();
  // After a thaw the window of the lease has often ended. This waits for the renewal, or for another node id: about one request to the
  // store. An id of a window that has ended is never given out.
  const id = await generator.nextAsync({ signal: AbortSignal.timeout(5_000) });
  return { statusCode: 201, body: JSON.stringify({ id: String(id), node: generator.lease.id }) };
}
