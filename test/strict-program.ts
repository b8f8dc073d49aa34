// A program in TypeScript that compilers of several years must accept, under every flag.

/**
 * A program that leaves every option out by `undefined`, as code does that passes its own options on, with the names that its
 * types promise. Each line of `wrong` must be an error.
 */
export const STRICT = `
import { acquireLease, defineLayout, FlakeGenerator, layouts, type Lease, LocalityGenerator, LocalityUuid, memoryStore, Sequences, Uuid7Generator } from 'idsmith';
import { connect } from 'idsmith/connect';
import { publicIds } from 'idsmith/public';
import { flakeSchema, typeIdSchema } from 'idsmith/schema';
import { typeIds } from 'idsmith/typeid';
import { uuid7 } from 'idsmith/uuid7';

export async function main(signal: AbortSignal | undefined, tenant: string | undefined, none: undefined) {
  const ids = await connect('memory:', { signal, label: none, shared: none });
  const orders = await ids.flakes('orders', { signal, layout: none, ttl: none, instance: none, onFull: none });
  const bigint: bigint = orders.next();
  const texts = await ids.flakes('texts', { as: 'string', signal });
  const text: string = texts.next();
  const manyTexts: string[] = texts.batch(2);
  const later: string = await texts.nextAsync({ signal });
  const numbers = new FlakeGenerator({ node: 1, layout: layouts.seconds53, as: 'number', clock: none, maxBackward: none });
  const number: number = numbers.next();
  const attached: number = FlakeGenerator.attach(numbers.share(), { clock: none }).next();
  await orders.ready({ signal, timeout: none });
  const events = await ids.locality('events', { mode: none, signal });
  const uuids = await ids.uuid7(none, { clock: none });
  const invoices = await ids.sequence('invoices', { define: { start: 1, max: none }, prefetch: none, signal, as: 'string' });
  const invoice: string = await invoices.next({ signal });
  const manyInvoices: string[] = await invoices.batch(2, { signal });
  const printed = await ids.series('printed', { format: 'INV-{yyyy}-{n:6}', period: none, timeZone: none, start: none, audit: none });
  const line: string = await printed.next({ tenant, signal, in: none });
  const sequences = new Sequences(memoryStore(), { clock: none, timer: none });
  const plain: bigint = await (await sequences.get('x', { source: none, implementation: none })).next();
  const lease: Lease = await acquireLease(memoryStore(), { namespace: 'x', size: 2, ttl: none, label: none, signal, waitFor: none });
  await lease.whenActive({ signal, timeout: none });
  defineLayout({ epoch: 0, timeBits: 41, nodeBits: 9, sequenceBits: 13, tick: none, order: none });
  void [new LocalityGenerator({ mode: none, node: none }), new Uuid7Generator({ clock: none, random: none, node: none })];
  const users = typeIds('user');
  const user: \`user_\${string}\` = users.next();
  const given: string = uuid7.at(new Date());
  const times: Date[] = [uuid7.timeOf(given), LocalityUuid.timeOf(events.next(), { format: none })];
  const codec = publicIds({ prefix: 'ord', keys: { 1: new Uint8Array(32) }, current: none, of: none, short: none });
  const shown: \`ord_\${string}\` = codec.encode(1n);
  void [flakeSchema({ layout: none }), typeIdSchema, events, uuids, user, given, shown, line, plain, attached, number, manyInvoices];
  void [times, invoice, later, manyTexts, text, bigint];
  // @ts-expect-error: the type of ids is that of the option
  const wrong: bigint = texts.next();
  // @ts-expect-error: no such type
  new FlakeGenerator({ node: 1, as: 'text' });
  // @ts-expect-error: another prefix
  const order: \`order_\${string}\` = users.next();
  void [wrong, order];
}`;

/** Every flag beyond `strict` that makes a compiler complain. */
export const EVERY_FLAG = {
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noFallthroughCasesInSwitch: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  isolatedModules: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
};
