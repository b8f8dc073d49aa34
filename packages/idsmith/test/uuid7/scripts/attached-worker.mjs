// Mints with a generator that shares its position with other threads, by every method in turn, once all threads are there.
import { parentPort, workerData } from 'node:worker_threads';
import { Uuid7Generator } from 'idsmith';

const { handle, count, byte, gate, threads } = workerData;
const random = byte === undefined ? {} : { random: { fill: (target) => target.fill(byte) } };
const generator = Uuid7Generator.attach(handle, random);
const bytes = new Uint8Array(16 * count);
let done = 0;
const put = (id) => {
  if (done < count) bytes.set(Buffer.from(id.replaceAll('-', ''), 'hex'), 16 * done++);
};

const arrived = new Int32Array(gate);
Atomics.add(arrived, 0, 1);
for (let there = Atomics.load(arrived, 0); there < threads; there = Atomics.load(arrived, 0))
  Atomics.wait(arrived, 0, there);

while (done < count) {
  for (let i = 0; i < 200; i++) put(generator.next());
  for (const id of generator.batch(70)) put(id);
  done += generator.fill(bytes.subarray(16 * done, 16 * (done + 20)));
}
parentPort.postMessage(bytes, [bytes.buffer]);
