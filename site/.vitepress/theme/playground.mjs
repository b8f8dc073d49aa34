// What the playground does, with the library as browsers get it.

import { fixedKey } from '@idsmith/shard/ring';
import { LocalityGenerator, layouts, leaseFlakes, memoryStore, Sequences } from 'idsmith';
import { inspect } from 'idsmith/inspect';
import { publicIds } from 'idsmith/public';
import { series } from 'idsmith/sql';
import { typeIds } from 'idsmith/typeid';
import { uuid7 } from 'idsmith/uuid7';
import { diagramOf } from '../../../packages/console/src/lib/diagram/diagram.ts';

/** The epoch of sharded keys, unless a map has another one. */
const KEY_EPOCH = 1325404800000;

const TITLES = {
  locality: 'Locality UUID',
  uuid: 'UUID',
  flake: 'Flake',
  key: 'Sharded key',
  public: 'Public id',
  typeid: 'Typed id',
  ulid: 'ULID',
  ksuid: 'KSUID',
  objectid: 'ObjectId',
  xid: 'xid',
  nanoid: 'Random text',
  sequence: 'Sequence number',
};

export async function toolsOf() {
  const store = memoryStore();
  const flakes = await leaseFlakes(store, { namespace: 'playground', as: 'string' });
  const sequences = new Sequences(store);
  await sequences.define('orders', { start: 10_000 });
  const orders = await sequences.get('orders', { as: 'string' });
  const invoices = series('invoices', { format: 'INV-{yyyy}-{n:6}', period: 'year', store });
  const users = typeIds('user');
  const locality = new LocalityGenerator();
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const outside = publicIds({ prefix: 'ord', keys: { 1: secret } });
  let variant = 0;

  const MINT = {
    flake: () => flakes.nextAsync(),
    uuid7,
    typeid: () => users.next(),
    sequence: () => orders.next(),
    series: () => invoices.next(),
    locality: () => locality.next(),
    key: () => fixedKey(Date.now() - KEY_EPOCH, variant++ % 3844, 2),
    public: async () => outside.encode(BigInt(await flakes.nextAsync())),
  };

  return {
    async mint(family, count) {
      const ids = [];
      for (let i = 0; i < count; i++) ids.push(String(await MINT[family]()));
      return ids;
    },
    read: (text) => [
      ...readSeries(invoices, text),
      ...inspect(text, { publicIds: [outside] }).map((reading) => shown(text, reading)),
    ],
  };
}

function shown(text, reading) {
  const { family, reason, fields } = reading;
  const { layout, utc: _utc, uuid, ...others } = fields;
  // A typed id is a UUID inside.
  const inside = uuid === undefined ? undefined : inspect(String(uuid))[0];
  const diagram = inside === undefined ? diagramOf(text, reading) : diagramOf(String(uuid), inside);
  const bits = layout === undefined ? '' : `, ${layout} (${layouts[layout].bits} bits)`;
  return {
    title: `${TITLES[family] ?? family}${bits}`,
    reason: `${reason[0].toUpperCase()}${reason.slice(1)}.`.replace(/\.\.$/, '.'),
    diagram,
    fields: Object.entries(uuid === undefined ? others : { uuid, ...others }),
  };
}

/** A series prints no structure of its own: only its format can read it. */
function readSeries(invoices, text) {
  try {
    const { number, period } = invoices.parse(text);
    const fields = Object.entries({ number: String(number), period });
    return [{ title: 'Series', reason: 'A number of the series of this page.', fields }];
  } catch {
    return [];
  }
}
