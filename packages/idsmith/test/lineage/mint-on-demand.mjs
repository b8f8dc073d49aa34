// Holds a node id and has a sequence and a series of the store in its first argument. Says that it is ready, and then, for each number on
// its input, mints so many flakes and some numbers, and prints them. Prints an error in place of "ready" if it gets no node id.
import process from 'node:process';
import { createInterface } from 'node:readline';
import { connect } from 'idsmith/connect';

const [url, waitFor] = process.argv.slice(2);
const print = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);

const ids = await connect(url);
try {
  const generator = await ids.flakes('nodes', waitFor === undefined ? {} : { waitFor: Number(waitFor) });
  const orders = await ids.sequence('orders', { define: {} });
  const invoices = await ids.series('invoices', { format: 'R-{n}' });
  print('ready');
  for await (const line of createInterface({ input: process.stdin })) {
    const given = { flakes: [], orders: [], invoices: [] };
    for (let i = 0; i < Number(line); i++) {
      given.flakes.push(String(await generator.nextAsync()));
      if (i % 1000 > 0) continue;
      given.orders.push(...(await orders.batch(2000)).map(String));
      given.invoices.push(await invoices.next());
    }
    print(given);
  }
} catch ({ code }) {
  print(code);
}
await ids.close();
