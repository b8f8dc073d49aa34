import { parentPort, workerData } from 'node:worker_threads';
import { FlakeGenerator } from 'idsmith';

// The same generator as in the main thread: every id of every thread is higher than those before, and no lease is needed here.
const orders = FlakeGenerator.attach(workerData.flakes);
const flakes = Array.from({ length: workerData.count }, () => orders.next());

parentPort.once('message', (numbers) => {
  parentPort.postMessage({ minted: { flakes, numbers } });
});
parentPort.postMessage({ want: 250 });
