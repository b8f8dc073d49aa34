// The least that a Fastify server can do: routes that give a constant. What ours is measured against.

import { createRequire } from 'node:module';

// The server's own Fastify, wherever npm has put it.
const [dependency] = ['fastify'];
const app = createRequire(new URL('../../packages/server/package.json', import.meta.url))(dependency)();
const answer = { ids: ['1703865194431643648'] };
app.post('/bare', (_request, reply) => {
  reply.send(answer);
});

/** Bodies by their size in bytes: `{"ids":["111…"]}`, made once. */
const bodies = new Map();
app.post('/bare/:size', ({ params: { size } }, reply) => {
  let body = bodies.get(size);
  if (body === undefined) {
    body = `{"ids":["${'1'.repeat(Number(size) - 12)}"]}`;
    bodies.set(size, body);
  }
  reply.header('content-type', 'application/json; charset=utf-8').send(body);
});
await app.listen({ port: 0, host: '127.0.0.1' });
console.log(`http://127.0.0.1:${app.server.address().port}`);
