// Mints with the process-wide default generator of this thread.
import { parentPort, workerData } from 'node:worker_threads';
import { LocalityUuid } from 'idsmith';

const bytes = new Uint8Array(16 * workerData.count);
for (let i = 0; i < workerData.count; i++) bytes.set(new LocalityUuid().toBytes(), 16 * i);
parentPort.postMessage(bytes, [bytes.buffer]);
