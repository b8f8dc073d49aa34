// dynalite as `dynalite/cli.js` starts it, with connections that stay open while nobody uses them. When the server ends idle
// connections, a client that is busy sends requests on many of them at once, and runs out of retries.

import { createRequire } from 'node:module';

const [program, options] = process.argv.slice(2);
const { host, port, ...rest } = JSON.parse(options);
const server = createRequire(import.meta.url)(program)(rest);
server.keepAliveTimeout = 0;
server.listen(port, host);
