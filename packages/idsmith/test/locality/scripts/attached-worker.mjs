// Mints with a generator that shares its counter with other threads, by every method in turn.
import { parentPort, workerData } from 'node:worker_threads';
import { LocalityGenerator } from 'idsmith';

const generator = LocalityGenerator.attach(workerData.handle);
const ids = [];
while (ids.length < workerData.count) {
  ids.push(generator.next(), generator.nextUuid().toString());
  ids.push(...generator.batch(Math.min(98, workerData.count - ids.length)));
  if (workerData.toggle && ids.length % 10_000 === 0) {
    if (ids.length % 20_000 === 0) generator.useVariableIds();
    else generator.useSequentialIds();
  }
}
parentPort.postMessage(Uint8Array.from(Buffer.from(ids.join('').replaceAll('-', ''), 'hex')));
