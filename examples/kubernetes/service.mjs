// A service of orders with three or more replicas: Fastify, PostgreSQL, and an id for each order.

import process from 'node:process';
import { idsmith } from '@idsmith/fastify';
import fastify from 'fastify';
import pg from 'pg';

const { DATABASE_URL, PORT = '8080', HOST = '0.0.0.0', LEASE_TTL = '30000' } = process.env;

const app = fastify({ logger: { level: 'warn' } });
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10, connectionTimeoutMillis: 5_000 });
pool.on('error', (error) => app.log.warn(error)); // an idle connection was lost; the pool makes another

// The ids have connections of their own: an order that holds a connection never waits for one that is waiting for it.
await app.register(idsmith, { store: DATABASE_URL, readiness: '/readyz' });
app.get('/livez', async () => 'alive');

const orders = () => app.ids.flakes('orders', { ttl: Number(LEASE_TTL) }); // the same generator each time

app.post('/orders', async (request, reply) => {
  // After a pause of the pod this waits until the lease is renewed.
  const id = await (await orders()).nextAsync({ signal: AbortSignal.timeout(2_000) });
  await pool.query('INSERT INTO orders (id, body) VALUES ($1, $2)', [id, request.body ?? {}]);
  return reply.code(201).send({ id: String(id) }); // text: a JSON number would lose digits
});

app.get('/orders/:id', async (request, reply) => {
  const { rows } = await pool.query('SELECT id::text, body FROM orders WHERE id = $1', [request.params.id]);
  return rows[0] ?? reply.code(404).send({ message: 'no such order' });
});

// 1. Fastify answers no new request, and waits for those under way. 2. The plugin releases the lease. 3. The pool ends.
process.once('SIGTERM', async () => {
  await app.close();
  await pool.end();
});

await pool
  .query('CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, body jsonb NOT NULL)')
  .catch(ignoreRace);
// Listens before the lease is there: the probes answer while the pod waits for it.
console.log(`listening at ${await app.listen({ port: Number(PORT), host: HOST })}`);
await orders(); // a failure ends the process, and Kubernetes starts it again

/** Of replicas that create the table at once, all but one may get these errors. */
function ignoreRace(error) {
  if (!['23505', '42P07'].includes(error.code)) throw error;
}
