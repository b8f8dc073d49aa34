// Mints with a generator that shares its state with other threads, by every method in turn.
import { parentPort, workerData } from 'node:worker_threads';
import { FlakeGenerator } from 'idsmith';

const generator = FlakeGenerator.attach(workerData.handle);
const ids = new BigUint64Array(workerData.count);
for (let done = 0; done < ids.length; ) {
  for (let i = 0; i < 100 && done < ids.length; i++) ids[done++] = generator.next();
  const part = ids.subarray(done, done + 400);
  done += generator.fill(part);
}
parentPort.postMessage(ids, [ids.buffer]);
