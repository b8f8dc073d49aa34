// Prints an id of each of three default generators: two in the main thread, one in a worker.
import { Worker } from 'node:worker_threads';
import { LocalityGenerator, LocalityUuid } from 'idsmith';

const worker = new Worker(new URL('default-worker.mjs', import.meta.url), { workerData: { count: 1 } });
worker.once('message', (bytes) => {
  const ids = [new LocalityGenerator().next(), new LocalityUuid(), LocalityUuid.fromBytes(bytes)];
  console.log(JSON.stringify(ids.map(String)));
});
