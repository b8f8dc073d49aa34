import { layouts, memoryStore } from 'idsmith';
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

it('A server of a region mints flakes of the node ids of its region', async () => {
  const settings = { port: 0, tokens: 'none', nodes: '256-511' };
  const store = memoryStore();
  await using server = await startServer(settings, { store, write: () => {} });
  const { ids } = (await (await fetch(`${server.url}/v1/flakes?count=2`, { method: 'POST' })).json()) as {
    ids: string[];
  };
  expect(ids.map((id) => layouts.jflake.decode(id).node)).toEqual([256, 256]);
  const whole = startServer({ port: 0, tokens: 'none' }, { store, write: () => {} });
  await expect(whole).rejects.toThrow('gives out the node ids 256 to 511');
  const wrong = startServer({ ...settings, nodes: '256-512' }, { store: memoryStore(), write: () => {} });
  await expect(wrong).rejects.toThrow('nodes[1] must be a whole number from 256 to 511, not 512');
});
