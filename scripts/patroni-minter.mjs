// A process of scripts/patroni.mjs: mints flakes, numbers of a sequence and numbers of a series, and writes them to a file as it gets them.

import { appendFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'idsmith/connect';

const [url, file] = process.argv.slice(2);
writeFileSync(file, '');
const write = (...words) => appendFileSync(file, `${words.join(' ')}\n`);

process.on('disconnect', () => process.exit(1));
let isEnding = false;
process.on('SIGTERM', () => {
  isEnding = true;
});

/** Calls again and again what mints ids of a family. An error is noted, and the next call goes on. */
async function mint(family, open, take) {
  let generator;
  while (!isEnding) {
    try {
      generator ??= await open();
      write(family, ...(await take(generator)));
      await sleep(10);
    } catch (error) {
      write('error', error.code ?? error.name);
      await sleep(200);
    }
  }
}

/** Several numbers, one call after the other. */
async function some(count, next) {
  const found = [];
  for (let n = 0; n < count; n++) found.push(await next());
  return found;
}

let ids;
while (ids === undefined && !isEnding)
  try {
    ids = await connect(url);
  } catch (error) {
    write('error', error.code ?? error.name);
    await sleep(200);
  }
await Promise.all([
  mint(
    'flake',
    () => ids.flakes('orders', { maxSkew: 500 }),
    (flakes) => flakes.batch(50),
  ),
  mint(
    'number',
    () => ids.sequence('numbers', { define: { start: 1, blockSize: 20 } }),
    (sequence) => some(10, () => sequence.next()),
  ),
  mint(
    'invoice',
    () => ids.series('invoices', { format: 'INV-{n}' }),
    (series) => some(2, () => series.next()),
  ),
]);
await Promise.race([ids?.close().catch(() => undefined), sleep(5000)]);
process.exit(0);
