// Several threads mint from one lease, and from one sequence.

import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { connect } from 'idsmith/connect';

const { STORE_URL = 'sqlite:./ids.db', THREADS = '4', IDS = '10000' } = process.env;

const ids = await connect(STORE_URL);
const orders = await ids.flakes('orders'); // the lease is here, and so is its renewal
const invoices = await ids.sequence('invoices', { define: { start: 1, blockSize: 100 } });

/** Runs one thread to its end. Resolves with what it has minted. */
function runWorker() {
  return new Promise((resolve, reject) => {
    // share() puts the state of the generator into memory that threads share. The handle can be sent to any thread.
    const workerData = { flakes: orders.share(), count: Number(IDS) };
    const worker = new Worker(new URL('./worker.mjs', import.meta.url), { workerData });
    worker.on('message', async ({ want, minted }) => {
      if (minted !== undefined) return resolve(minted);
      // A sequence stays in this thread: it has a connection. Workers ask for many numbers at once.
      worker.postMessage(await invoices.batch(want));
    });
    worker.once('error', reject);
  });
}

const minted = await Promise.all(Array.from({ length: Number(THREADS) }, runWorker));
const flakes = minted.flatMap((thread) => thread.flakes);
const numbers = minted.flatMap((thread) => thread.numbers);
console.log(`${flakes.length} flakes, ${flakes.length - new Set(flakes).size} repeated`);
console.log(`${numbers.length} numbers, ${numbers.length - new Set(numbers).size} repeated`);
await ids.close(); // ends minting in every thread that is still there
