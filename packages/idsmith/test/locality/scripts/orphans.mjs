// Two workers that mint, below a main thread that knows nothing of idsmith.
import { Worker } from 'node:worker_threads';

for (const _ of [1, 2]) {
  const worker = new Worker(new URL('default-worker.mjs', import.meta.url), { workerData: { count: 1 } });
  worker.on('message', (bytes) => {
    const hex = Buffer.from(bytes).toString('hex');
    console.log(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'));
  });
}
