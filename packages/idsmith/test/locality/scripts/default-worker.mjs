// Mints with the default generator of this thread. In sequential mode all threads count from the same seed.
import { parentPort, workerData } from 'node:worker_threads';
import { LocalityUuid } from 'idsmith';

if (workerData.sequential) LocalityUuid.useSequentialIds();
const bytes = new Uint8Array(16 * workerData.count);
for (let i = 0; i < workerData.count; i++) bytes.set(new LocalityUuid().toBytes(), 16 * i);
parentPort.postMessage(bytes, [bytes.buffer]);
