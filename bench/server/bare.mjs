// The least that a Fastify server can do: one route that gives a constant. What ours is measured against.

import { createRequire } from 'node:module';

// The server's own Fastify, wherever npm has put it.
const [dependency] = ['fastify'];
const app = createRequire(new URL('../../packages/server/package.json', import.meta.url))(dependency)();
const answer = { ids: ['1703865194431643648'] };
app.post('/bare', (_request, reply) => {
  reply.send(answer);
});
await app.listen({ port: 0, host: '127.0.0.1' });
console.log(`http://127.0.0.1:${app.server.address().port}`);
