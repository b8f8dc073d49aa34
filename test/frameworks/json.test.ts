import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createTRPCClient, httpLink } from '@trpc/client';
import { initTRPC } from '@trpc/server';
import { createHTTPHandler } from '@trpc/server/adapters/standalone';
import express from 'express';
import fastify from 'fastify';
import { buildSchema, graphql } from 'graphql';
import { Hono } from 'hono';
import { createFromReadableStream, encodeReply } from 'react-server-dom-parcel/client.edge';
import { afterAll, describe, expect, it } from 'vitest';

// Runs the recipes of docs/json.md as they stand, and shows for each framework what breaks without its recipe.

const page = readFileSync(new URL('../../docs/json.md', import.meta.url), 'utf8');

/** The programs under a heading; before the first heading, those of the page itself. */
function programs(heading?: string): string[] {
  const section = heading === undefined ? page : page.split(`\n## ${heading}\n`)[1];
  const own = section?.split('\n## ')[0] ?? '';
  return [...own.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map((match) => match[1] as string);
}

// Below the packages of this folder, so that a program finds them and the packed idsmith as a user's program would.
const home = join(import.meta.dirname, 'node_modules', '.examples');
mkdirSync(home, { recursive: true });
const scratch = mkdtempSync(join(home, 'json-'));
process.env.STORE_URL = `sqlite:${join(scratch, 'ids.db')}`;
process.env.PORT = '0';

const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
  rmSync(scratch, { recursive: true, force: true });
});

/** Runs programs as one module. Gives what the module exports. */
// biome-ignore lint/suspicious/noExplicitAny: objects of packages that the program has loaded itself
async function run(name: string, ...code: string[]): Promise<Record<string, any>> {
  const file = join(scratch, `${name}.mjs`);
  writeFileSync(file, [...programs(), ...code].join('\n'));
  return import(file);
}

const BIG = 2n ** 53n + 1n;
const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function listening(server: Server): Promise<string> {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  ends.push(() => server.close());
  return urlOf(server);
}

type Send = (path: string, init?: RequestInit) => Response | Promise<Response>;

/** Creates an order and finds it again, over HTTP. */
async function roundTrip(send: Send): Promise<void> {
  const created = await send('/orders', { method: 'POST' });
  expect([created.status, created.headers.get('content-type')]).toEqual([
    201,
    expect.stringContaining('application/json'),
  ]);
  const { id } = (await created.json()) as { id: string };
  expect(id).toMatch(/^\d+$/);
  expect(BigInt(id)).toBeGreaterThan(2n ** 53n);
  expect(await (await send(`/orders/${id}`)).json()).toEqual({ id });
  const refused = await send('/orders/12x');
  expect(refused.status).toBe(400);
  expect(((await refused.json()) as { error: string }).error).toContain('12x');
}

describe('A bigint in Express', () => {
  it('arrives as text', async () => {
    const { server } = await run('express', ...programs('Express'), 'export { server };');
    const url = await listening(server);
    await roundTrip((path, init) => fetch(url + path, init));
  });

  it('is status 500 without the recipe', async () => {
    const app = express();
    app.get('/', (_request: unknown, response: { json(body: unknown): void }) => response.json({ id: BIG }));
    app.use((error: Error, _request: unknown, response: ServerResponse, _next: unknown) => {
      response.writeHead(500).end(error.message);
    });
    const answer = await fetch(await listening(app.listen(0)));
    expect([answer.status, await answer.text()]).toEqual([500, 'Do not know how to serialize a BigInt']);
  });
});

describe('A bigint in Fastify', () => {
  it('arrives as text', async () => {
    const { app, address } = await run(
      'fastify',
      programs('Fastify')[0] as string,
      'export { app, address };',
    );
    ends.push(() => app.close());
    await roundTrip((path, init) => fetch(address + path, init));
  });

  it('arrives as text with a response schema', async () => {
    const { fast } = await run(
      'fastify-schema',
      "import fastify from 'fastify';",
      programs('Fastify')[1] as string,
      'export { fast };',
    );
    const { payload } = await fast.inject({ method: 'POST', url: '/orders' });
    expect(payload).toMatch(/^\{"id":"\d{16,19}"\}$/);
  });

  it('is status 500 without the recipe, and a rounded number with a schema of integers', async () => {
    const app = fastify();
    const integer = { response: { 200: { type: 'object', properties: { id: { type: 'integer' } } } } };
    app.get('/plain', async () => ({ id: BIG }));
    app.get('/integer', { schema: integer }, async () => ({ id: BIG }));
    expect((await app.inject('/plain')).statusCode).toBe(500);
    const { payload } = await app.inject('/integer');
    expect(payload).toBe(`{"id":${BIG}}`);
    expect(BigInt(JSON.parse(payload).id)).toBe(BIG - 1n);
  });
});

describe('A bigint in Hono', () => {
  it('arrives as text', async () => {
    const { default: app } = await run('hono', ...programs('Hono'));
    await roundTrip((path, init) => app.request(path, init));
  });

  it('is status 500 without the recipe', async () => {
    const app = new Hono();
    app.get('/', (c) => c.json({ id: BIG } as never));
    app.onError((error, c) => c.text(error.message, 500));
    const answer = await app.request('/');
    expect([answer.status, await answer.text()]).toEqual([500, 'Do not know how to serialize a BigInt']);
  });
});

describe('A bigint in Next.js', () => {
  it('passes through a server action as a bigint, both ways, in the serializer of React', async () => {
    // React's server needs a condition that its client must not have: a process of its own.
    const file = join(scratch, 'action.mjs');
    const serve = `import { text } from 'node:stream/consumers';
      import { decodeReply, renderToReadableStream } from 'react-server-dom-parcel/server.edge';
      const args = await decodeReply(await text(process.stdin));
      for await (const chunk of renderToReadableStream(await nextOrder(...args))) process.stdout.write(chunk);
      await ids.close();`;
    writeFileSync(file, [...programs(), programs('Next.js')[0], serve].join('\n'));
    const input = (await encodeReply([BIG])) as string;
    const { stdout, stderr } = spawnSync(process.execPath, ['--conditions=react-server', file], { input });
    expect(stderr.toString()).toBe('');
    const stream = new Blob([stdout]).stream();
    const { id, after } = await createFromReadableStream(stream);
    expect(after).toBe(BIG);
    expect(typeof id).toBe('bigint');
    expect(id).toBeGreaterThan(BIG);
  });

  it('is text from a route handler, where Response.json throws', async () => {
    const { POST } = await run('route', programs('Next.js')[1] as string);
    const answer: Response = await POST();
    expect(answer.status).toBe(201);
    expect(await answer.json()).toEqual({ id: expect.stringMatching(/^\d{16,19}$/) });
    expect(() => Response.json({ id: BIG })).toThrow('Do not know how to serialize a BigInt');
  });
});

describe('A bigint in tRPC', () => {
  it('is a bigint on both sides', async () => {
    const [onServer, onClient] = programs('tRPC') as [string, string];
    const { server } = await run('trpc-server', onServer, 'export { server };');
    process.env.API_URL = await listening(server);
    const { client, id, found } = await run('trpc-client', onClient, 'export { client, id, found };');
    expect(typeof id).toBe('bigint');
    expect(found).toEqual({ id });
    await expect(client.find.query('12x')).rejects.toThrow('12x');
    expect(await client.find.query(id.toString())).toEqual({ id });
  });

  it('fails without the recipe', async () => {
    const t = initTRPC.create();
    const router = t.router({ find: t.procedure.query(() => ({ id: BIG })) });
    const url = await listening(createServer(createHTTPHandler({ router })).listen(0));
    const client = createTRPCClient<typeof router>({ links: [httpLink({ url })] });
    await expect(client.find.query()).rejects.toThrow('Do not know how to serialize a BigInt');
  });
});

describe('A bigint in GraphQL', () => {
  it('arrives as text', async () => {
    const own = await run('graphql', ...programs('GraphQL'), 'export { data, graphql, schema, rootValue };');
    const { data, schema, rootValue } = own;
    const { id } = data.createOrder;
    expect(id).toMatch(/^\d{16,19}$/);
    const found = await own.graphql({ schema, rootValue, source: `{ order(id: "${id}") { id } }` });
    expect(found).toMatchObject({ data: { order: { id } } });
    const refused = await own.graphql({ schema, rootValue, source: '{ order(id: "12x") { id } }' });
    expect(refused.errors?.[0]?.message).toContain('12x');
  });

  it.each(['Int', 'ID'])('is an error as %s without the recipe', async (type) => {
    const schema = buildSchema(`type Query { id: ${type} }`);
    const { data, errors } = await graphql({ schema, rootValue: { id: () => BIG }, source: '{ id }' });
    expect(data).toEqual({ id: null });
    expect(errors?.[0]?.message).toMatch(/cannot represent/);
  });
});
