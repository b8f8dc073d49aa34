// A process that takes a lease, prints its node id, and holds the lease until SIGTERM or SIGKILL.
// Arguments: the URL of a store, a namespace, the number of node ids, the ttl, a label, and how far to run ahead, ms.

import process from 'node:process';
import { acquireLease, defineLayout, FlakeGenerator } from 'idsmith';
import { openStore } from 'idsmith/stores';

const [url, namespace, size, ttl, label, ahead] = process.argv.slice(2);
const store = await openStore(url);
const lease = await acquireLease(store, { namespace, size: Number(size), ttl: Number(ttl), label });

if (Number(ahead) > 0) {
  // One id per millisecond, so that `ahead` ids reach `ahead` ms into the future.
  const layout = defineLayout({ epoch: 0, timeBits: 45, nodeBits: 10, sequenceBits: 0 });
  const borrowing = { onFull: 'borrow', maxBackward: Number(ahead) };
  new FlakeGenerator({ layout, node: lease, ...borrowing }).batch(Number(ahead));
}
process.stdout.write(`${lease.id}\n`);

process.once('SIGTERM', async () => {
  await lease.release();
  await store.close();
  process.exit(0);
});
setInterval(() => {}, 1000);
