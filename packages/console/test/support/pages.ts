import { publicIds } from 'idsmith/public';
import type { Visit } from './console.ts';
import { KEY } from './public-keys.ts';

const UUID = '20be0ffc-314a-bd53-7a50-013a65ca76d2';
const users = publicIds({ prefix: 'usr', keys: { 1: KEY }, of: 'uuid' });

/** A page with content. */
interface ShownPage {
  readonly name: string;
  readonly open: (visit: Visit) => Promise<void>;
}

const SEQUENCES = [
  { name: 'orders', start: '10000', blockSize: 50 },
  { name: 'invoices', max: '99999', blockSize: 10 },
  { name: 'tickets', max: '5000', blockSize: 100 },
  { name: 'ring-buffer', min: '1', max: '256', cycle: true, blockSize: 16 },
  { name: 'customers.emea/2026', start: '9007199254740993', step: 7, blockSize: 1000 },
];

async function prepare(url: string): Promise<void> {
  for (const body of SEQUENCES)
    await fetch(`${url}/v1/sequences`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  for (const [name, count] of Object.entries({ orders: 700, invoices: 2000, tickets: 4700 }))
    await fetch(`${url}/v1/sequences/${name}/next?count=${count}`, { method: 'POST' });
}

const all: readonly ShownPage[] = [
  { name: 'inspect-empty', open: (visit) => go(visit, 'inspect', 'No id yet') },
  {
    name: 'inspect',
    open: (visit) => go(visit, 'inspect/1703865194431643648', 'most likely'),
  },
  {
    name: 'inspect-locality',
    open: (visit) => go(visit, `inspect/${UUID}`, '__:__:_d:53:7a:50'),
  },
  { name: 'inspect-number', open: (visit) => go(visit, 'inspect/10001', 'yes, in a block') },
  { name: 'inspect-wrong', open: (visit) => go(visit, 'inspect/hello', 'is not an id of any family') },
  {
    name: 'mint',
    async open(visit) {
      await go(visit, 'mint', 'Family');
      await visit.button('Mint').click();
      await visit.heading('5 ids: Flake').waitFor();
    },
  },
  {
    name: 'mint-public',
    async open(visit) {
      await go(visit, 'mint', 'Family');
      await visit.page.getByText('Locality UUID', { exact: true }).click();
      await visit.field('Public id').selectOption('usr');
      await visit.button('Mint').click();
      await visit.heading('5 ids: Locality UUID').waitFor();
    },
  },
  {
    name: 'inspect-public',
    open: (visit) => go(visit, `inspect/${users.encode(UUID)}`, 'The id inside'),
  },
  { name: 'sequences', open: (visit) => go(visit, 'sequences', 'customers.emea/2026') },
  {
    name: 'sequences-define',
    async open(visit) {
      await go(visit, 'sequences', 'orders');
      await visit.button('Define a sequence').click();
      await visit.field('Name').fill('orders');
      await visit.button('Define').click();
      await visit.errorOf('Name');
    },
  },
  { name: 'overview', open: (visit) => go(visit, 'overview', 'Node ids in use') },
  { name: 'sequence', open: (visit) => go(visit, 'sequences/invoices', 'Definition') },
  { name: 'audit', open: (visit) => go(visit, 'audit', 'define') },
  { name: 'leases', open: (visit) => go(visit, 'leases', '511 free') },
  {
    name: 'ring',
    async open(visit) {
      await go(visit, 'ring', 'No ring yet');
      await visit.button('Use the example').click();
      await visit.field('Host').fill('10.0.0.4');
      await visit.button('Calculate').click();
      await visit.page.getByText('of the keys would move').waitFor();
    },
  },
  { name: 'not-found', open: (visit) => go(visit, 'nowhere', 'Page not found') },
  { name: 'health', open: (visit) => go(visit, 'health', 'Memory') },
];

/** Opens a page and waits for a text on it. */
async function go(visit: Visit, path: string, text: string): Promise<void> {
  await visit.go(path);
  await visit.page.getByText(text).first().waitFor();
}

/** One of each page. */
const main = all.filter(({ name }) =>
  ['overview', 'inspect', 'mint', 'sequences', 'sequence', 'leases', 'ring', 'health', 'audit'].includes(
    name,
  ),
);

/** Every page of the console in its typical states, and the data that they need. */
export const PAGES = { all, main, prepare };
