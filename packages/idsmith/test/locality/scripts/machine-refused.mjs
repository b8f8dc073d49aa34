// Asks for the machine's identity where it does not tell processes apart, and prints the error: on a machine without MAC
// addresses, or in a worker whose main thread has not loaded idsmith.
import { isMainThread, Worker } from 'node:worker_threads';

if (isMainThread && process.argv[2] === 'orphan') {
  new Worker(new URL(import.meta.url));
} else {
  const os = await import('node:os');
  const { syncBuiltinESMExports } = await import('node:module');
  const own = [{ internal: false, mac: '00:1b:21:3a:4f:50' }];
  os.default.networkInterfaces = () => (isMainThread ? {} : { eth0: own });
  syncBuiltinESMExports();
  const { LocalityGenerator } = await import('idsmith');
  try {
    new LocalityGenerator({ node: 'machine' });
  } catch (error) {
    console.log(JSON.stringify([error.code, error.message]));
  }
}
