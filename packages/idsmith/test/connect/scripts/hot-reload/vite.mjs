// Lets Vite evaluate ids.mjs 20 times, as it does after a change of the file.
import { createServer } from 'vite';

const root = new URL('.', import.meta.url).pathname;
const server = await createServer({
  root,
  configFile: false,
  logLevel: 'error',
  server: { middlewareMode: true, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
});
const seen = new Set();
const modules = new Set();
let last;
let failure;
try {
  for (let i = 0; i < 20; i++) {
    server.environments.ssr.moduleGraph.invalidateAll();
    last = await server.ssrLoadModule('/ids.mjs');
    modules.add(last);
    seen.add(last.orders);
  }
} catch ({ code, message }) {
  failure = { code, message };
}
console.log(JSON.stringify({ evaluated: modules.size, generators: seen.size, ...failure }));
await last?.ids.close();
await server.close();
