// The data that the pictures of the console show: on a server that runs, by its API and its store.

import { acquireLease, layouts } from 'idsmith';

const SEQUENCES = [
  { name: 'orders', start: '10000', blockSize: 100 },
  { name: 'invoices', start: '2026000001', max: '2026999999', blockSize: 50 },
  { name: 'tickets', max: '5000', blockSize: 100 },
  { name: 'int32-payments', start: '2147450000', max: '2147483647', blockSize: 500 },
  { name: 'ring-buffer', min: '1', max: '256', cycle: true, blockSize: 16 },
  { name: 'customers.emea/2026', start: '9007199254740993', step: 7, blockSize: 1000 },
  { name: 'countdown', start: '1000', step: -1, min: '0', max: '1000', blockSize: 10 },
];

/** Names that break pages which trust names. */
const HOSTILE = [
  { name: '注文番号-東京支店', max: '99999' },
  { name: '주문-번호', blockSize: 20 },
  { name: 'أوامر', blockSize: 20 },
  { name: '<img src=x onerror=alert(1)>', blockSize: 20 },
  { name: 'pay\u202Eslip', blockSize: 20 },
  { name: `a-very-long-sequence-name-${'that-goes-on-'.repeat(12)}and-ends`, blockSize: 20 },
];

const DRAWN = { orders: 7200, invoices: 41_000, tickets: 4950, 'customers.emea/2026': 900, countdown: 120 };

async function call(url, method, path, body) {
  const response = await fetch(`${url}/v1/${path}`, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  await response.text();
}

/**
 * Fills a server.
 *
 * @param isHostile true for names of every kind, and as many sequences as fill a page
 */
export async function fill(url, store, isHostile) {
  const more = Array.from({ length: 20 }, (_, i) => ({ name: `tenant-${String(i + 1).padStart(2, '0')}` }));
  for (const body of [...SEQUENCES, ...(isHostile ? [...HOSTILE, ...more] : [])])
    await call(url, 'POST', 'sequences', body);
  for (const [name, count] of Object.entries(DRAWN))
    for (let left = count; left > 0; left -= 10_000)
      await call(url, 'POST', `sequences/${encodeURIComponent(name)}/next?count=${Math.min(left, 10_000)}`);
  await call(url, 'PATCH', 'sequences/orders', { blockSize: 200 });
  for (let i = 0; i < 12; i++) await call(url, 'POST', 'sequences/tickets/next?count=100');
  for (let i = 0; i < 3; i++) await call(url, 'POST', 'sequences/order/next');
  await call(url, 'POST', 'flakes?count=abc');
  for (const tenant of ['acme', 'globex'])
    await call(url, 'POST', 'series/invoices/next?count=3', {
      ...{ format: 'INV-{yyyy}-{n:6}', period: 'year', tenant },
    });
  const leases = [];
  for (const [namespace, layout, hosts] of [
    ['shop', layouts.jflake, ['web-1', 'web-2', 'web-3', 'worker-1']],
    ['billing', layouts.snowflake, ['billing-1', 'billing-2']],
  ])
    for (const host of hosts)
      leases.push(await acquireLease(store, { namespace, layout, label: `${host}/${4200 + leases.length}` }));
  return leases;
}

/** The moment of the pictures that must look the same each time. */
export const MOMENT = Date.UTC(2026, 10, 16, 9, 0, 0);

/** An hour of rates that rise and fall, as `GET /v1/history` has them. */
export function sampleHistory() {
  const [step, slots] = [5, 720];
  const wave = (mean, period, phase) =>
    Array.from({ length: slots }, (_, i) =>
      Math.round(mean * step * (1 + 0.45 * Math.sin(i / period + phase) + 0.12 * Math.sin(i * 1.7))),
    );
  const values = {
    flake: wave(2400, 90, 0),
    locality: wave(800, 140, 2),
    uuid7: wave(300, 60, 4),
    key: wave(0, 1, 0),
    sequence: wave(450, 110, 1),
    requests: wave(180, 90, 0),
    refusals: Array.from({ length: slots }, (_, i) => (i % 60 === 0 ? 2 : 0)),
    storeCalls: wave(20, 90, 0),
    storeErrors: wave(0, 1, 0),
    storeSeconds: Array.from({ length: slots }, (_, i) => 0.0012 + 0.0003 * Math.sin(i / 50)),
    loopDelay: wave(0, 1, 0),
    memory: Array.from({ length: slots }, () => 96e6),
  };
  const end = MOMENT / 1000;
  const series = Object.entries(values).map(([name, list]) => [name, { end, step, values: list }]);
  return { since: MOMENT - 9 * 86_400_000, series: Object.fromEntries(series) };
}

/** When the sequences end, in the pictures that must look the same each time. */
export const FORECASTS = {
  'int32-payments': { seconds: 3 * 86_400, rate: 0.13, over: 86_400, confidence: 'high' },
  invoices: { seconds: 240 * 86_400, rate: 0.05, over: 86_400, confidence: 'high' },
  countdown: { seconds: 600 * 86_400, rate: 0.00002, over: 86_400, confidence: 'medium' },
  'customers.emea/2026': { seconds: 4e9 * 365, rate: 3.1, over: 86_400, confidence: 'high' },
  orders: { seconds: 2e9 * 365, rate: 12.4, over: 86_400, confidence: 'high' },
};
