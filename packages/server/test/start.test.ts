import { memoryStore } from 'idsmith';
import { expect, it } from 'vitest';
import { startServer } from '../src/index.ts';

it('A server closes once, however often and in whichever way it is told to', async () => {
  const log: string[] = [];
  const parts = { store: memoryStore(), write: (line: string) => log.push(line) };
  const events = () => log.map((line) => JSON.parse(line).event);
  let url: string;
  {
    await using server = await startServer({ port: 0, tokens: 'none' }, parts);
    url = server.url;
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const first = server.close();
    expect(server.close()).toBe(first);
    await first;
    await server.close();
    expect(events().filter((event) => event === 'closed')).toHaveLength(1);
  }
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  expect(events().filter((event) => event === 'closed')).toHaveLength(1);
});
