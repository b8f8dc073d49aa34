// The stores of a Worker, for processes outside of it: `openStore` passes statements on to the Worker of statements.ts. The variable STATEMENTS
// has its address, `/d1` or `/object` at the end.

import process from 'node:process';
import { d1Store, durableObjectStore } from 'idsmith/stores/cloudflare';

const address = process.env.STATEMENTS;

/** Sends a statement. A way that is broken is the error that the platform has for it. */
async function send(body, headers) {
  const lost = (cause) => {
    throw Object.assign(new Error('Network connection lost.', { cause }), { retryable: true });
  };
  const response = await fetch(address, { method: 'POST', body, headers }).catch(lost);
  const answer = await response.json().catch(lost);
  if (response.status === 503)
    throw Object.assign(new Error(answer.message), { retryable: answer.retryable });
  return { ok: response.ok, json: async () => answer };
}

const database = {
  prepare: (sql) => ({
    bind: (...values) => ({
      async all() {
        const response = await send(JSON.stringify({ sql, values }));
        return { results: await response.json() };
      },
    }),
  }),
  batch() {},
};

const stub = { fetch: (url, { body }) => send(body, { 'x-url': url }) };

export const openStore = () => (address.endsWith('/d1') ? d1Store(database) : durableObjectStore(stub));
