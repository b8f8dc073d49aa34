// Mints with a generator of its own for a fixed node, or attached to one, once all threads are there.
import { parentPort, workerData } from 'node:worker_threads';
import { FlakeGenerator, layouts } from 'idsmith';

const { layout, node, handle, count, gate, threads } = workerData;
const make = () =>
  handle ? FlakeGenerator.attach(handle) : new FlakeGenerator({ layout: layouts[layout], node });
const generators = [make(), make()];

const arrived = new Int32Array(gate);
if (Atomics.add(arrived, 0, 1) + 1 === threads) Atomics.notify(arrived, 0);
for (let there = Atomics.load(arrived, 0); there < threads; there = Atomics.load(arrived, 0))
  Atomics.wait(arrived, 0, there);

const ids = new BigUint64Array(count);
for (let done = 0; done < count; ) {
  const generator = generators[done % 2];
  for (let i = 0; i < 31 && done < count; i++) ids[done++] = generator.next();
  done += generator.fill(ids.subarray(done, done + 70));
}
parentPort.postMessage(ids, [ids.buffer]);
