import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/services/describe-with.ts';
import { SHARED_STORES, type StoreServer } from '../../../../test/services/store-servers.ts';

// One rule for every store that connect opens: an idle Ids does not keep the process alive, a call under way does.

const entry = JSON.stringify(new URL('../../dist/connect/index.js', import.meta.url).href);

/** Uses leases and sequences, and ends without close(). The store stays idle with what it has opened. */
const PROGRAM = `
const { connect } = await import(${entry});
const ids = await connect(process.env.STORE);
const orders = await ids.flakes('exit', { onWait: () => {} });
const numbers = await ids.sequence('exit', { define: {} });
await Promise.all([orders.nextAsync(), numbers.next(), numbers.batch(50)]);
const active = () => process.getActiveResourcesInfo().filter((name) => /Socket|TCP/.test(name));
// What is active for a hundred looks in a row, while nothing is fetched, would keep the process alive.
let looks = 0;
setInterval(() => {
  const isBusy = ids.status().sequences.some(({ fetching }) => fetching);
  looks = isBusy || active().length === 0 ? 0 : looks + 1;
  if (looks === 100) {
    console.log('kept alive by ' + active());
    process.exit(1);
  }
}, 30).unref();
process.once('beforeExit', () => console.log('ended'));
`;

async function run(store: string): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { ...process.env, STORE: store },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  const [code] = await once(child, 'close');
  return { code, output };
}

it('A process with an idle store in memory ends', async () => {
  expect(await run('memory:')).toEqual({ code: 0, output: 'ended\n' });
});

for (const [name, needs, start] of SHARED_STORES)
  await describeWith(needs, `An idle ${name} store`, () => {
    let server: StoreServer;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server?.stop());

    it('lets the process end, and a call that waits is answered', async () => {
      // A Redis that can forget would wait for 81 seconds before its first lease.
      const url = name === 'redis' ? `${server.url}?durable=true` : server.url;
      expect(await run(url)).toEqual({ code: 0, output: 'ended\n' });
    });
  });
