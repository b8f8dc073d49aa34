// The main thread does not load idsmith. A worker does, and starts two others: they have its table, which is nobody else's.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const start = (role) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { role } });
    worker.once('message', resolve).once('error', reject);
  });

if (isMainThread) {
  process.stdout.write(JSON.stringify(await start('parent')));
} else {
  const warnings = [];
  process.on('warning', ({ code }) => warnings.push(code));
  const { FlakeGenerator } = await import('idsmith');
  const mint = () => new FlakeGenerator({ node: 3 }).batch(20_000).map(String);
  const below = workerData.role === 'parent' ? [start('child'), start('child')] : [];
  const ids = [mint(), mint()].flat();
  const told = await Promise.all(below);
  await new Promise((resolve) => setImmediate(resolve));
  parentPort.postMessage({
    ids: [...ids, ...told.flatMap((child) => child.ids)],
    warnings: [warnings, ...told.flatMap((child) => child.warnings)],
  });
}
