// An Express server whose ids are open before it listens, and closed after its last request.

import process from 'node:process';
import express from 'express';
import { IdError } from 'idsmith';
import { connect } from 'idsmith/connect';

// STORE_URL has no default: servers that do not share a store would mint the same ids.
const { STORE_URL, PORT = '3000' } = process.env;

const ids = await connect(STORE_URL);
const orders = await ids.flakes('orders');
const invoices = await ids.sequence('invoices', { define: { start: 10_000 } });

const app = express();

app.get('/readyz', (_request, response) => {
  const { ready } = ids.status();
  response.status(ready ? 200 : 503).json({ ready });
});

// Express 5 gives the error of an async handler to the error handler below.
app.post('/orders', async (_request, response) => {
  const id = await orders.nextAsync({ signal: AbortSignal.timeout(2_000) });
  const invoice = await invoices.next();
  response.status(201).json({ id: String(id), invoice: String(invoice) }); // text: JSON numbers lose digits
});

app.use((error, _request, response, next) => {
  // No lease at the moment, or the store is away: the caller may try again.
  if (error instanceof IdError || error.name === 'TimeoutError')
    return response.status(503).json({ code: error.code });
  return next(error);
});

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listening at http://127.0.0.1:${server.address().port}`);
});

process.once('SIGTERM', async () => {
  await new Promise((done) => server.close(done)); // 1. requests under way end
  await ids.close(); // 2. the lease is released, and unused numbers go back
});
