// A Worker that mints order ids without asking anybody, and invoice numbers from one counter. Leases and counters lie in a Durable Object.
import { layouts, leaseFlakes } from 'idsmith';
import { connect } from 'idsmith/connect';
import { durableObjectStore } from 'idsmith/stores/cloudflare';

export { IdStoreObject } from 'idsmith/stores/cloudflare';

/** The generator of this copy of the Worker. It outlives a request, and mints until the window of its lease ends. */
let orders;

const storeOf = (env) => durableObjectStore(env.IDS.get(env.IDS.idFromName('ids')));

/** Timers end with the request that has set them, so nobody renews the lease. The first request after its end takes another one. */
async function orderIds(env) {
  if (orders?.lease.state !== 'active')
    orders = await leaseFlakes(storeOf(env), {
      namespace: 'orders',
      layout: layouts.sonyflake,
      ttl: 300_000,
      onFull: 'borrow',
      label: 'worker',
    });
  return orders;
}

async function invoiceNumber(env) {
  const ids = await connect(storeOf(env));
  try {
    const invoices = await ids.series('invoices', { format: 'INV-{yyyy}-{n:6}', prefetch: 0 });
    return await invoices.next();
  } finally {
    // Numbers at hand go back.
    await ids.close();
  }
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === '/orders') return Response.json({ id: (await orderIds(env)).nextString() });
    if (pathname === '/invoices') return Response.json({ number: await invoiceNumber(env) });
    return new Response('POST /orders or /invoices', { status: 404 });
  },
};
