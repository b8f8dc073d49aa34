import { memoryStore } from 'idsmith';
import { expect, it } from 'vitest';
import { startServer } from '../src/index.ts';

it('A server whose store hangs at the end logs what it could not release, and ends', async () => {
  const inner = memoryStore();
  let isHung = false;
  const hanging = new Proxy(inner, {
    get: (target, key) => {
      const value = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => (isHung ? new Promise(() => {}) : value.apply(target, args));
    },
  });
  const log: string[] = [];
  const server = await startServer(
    { port: 0, tokens: 'none', grace: 100 },
    { store: hanging, write: (line) => log.push(line) },
  );
  for (const name of ['orders', 'invoices']) {
    await inner.defineSequence({ name });
    await fetch(`${server.url}/v1/sequences/${name}/next`, { method: 'POST' });
  }
  isHung = true;
  await server.close();
  const lines = log.map((line) => JSON.parse(line));
  const event = (name: string) => lines.filter((line) => line.event === name);
  expect(event('blocks not returned')).toMatchObject([
    { sequences: ['orders', 'invoices'], message: 'no answer within 1000 ms' },
  ]);
  const [flake] = (await inner.listLeases('jflake')).filter(({ id }) => id >= 0);
  expect(event('lease not released')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ namespace: 'jflake', node: flake?.id, message: 'no answer within 1000 ms' }),
      expect.objectContaining({ namespace: 'locality' }),
    ]),
  );
  expect(lines.at(-1)).toMatchObject({ event: 'closed' });
});
