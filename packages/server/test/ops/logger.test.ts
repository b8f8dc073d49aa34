import { Writable } from 'node:stream';
import { memoryStore, StoreError } from 'idsmith';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { startServer } from '../../src/index.ts';
import type { Logger } from '../../src/ops/log.ts';

/** A real pino logger, and the lines that it has written. */
function realPino(): { logger: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  return { logger: pino({ base: null }, stream), lines };
}

const base = { port: 0, tokens: 'none' };
const TRACE = '0af7651916cd43dd8448eb211c80319c';

describe('A pino logger', () => {
  it('gets the events of the server, with the ids of each request', async () => {
    const { logger, lines } = realPino();
    await using server = await startServer({ ...base, log: 'requests' }, { store: memoryStore(), logger });
    const headers = { 'x-request-id': 'order-17', traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
    await fetch(`${server.url}/v1/flakes`, { method: 'POST', headers });
    await expect.poll(() => lines.map(({ msg }) => msg)).toContain('request');
    expect(lines[0]).toMatchObject({ level: 30, msg: 'listening', component: 'idsmith', url: server.url });
    expect(lines.at(-1)).toMatchObject({
      level: 30,
      msg: 'request',
      method: 'POST',
      path: '/v1/flakes',
      status: 200,
      requestId: 'order-17',
      traceId: TRACE,
    });
    await server.close();
    expect(lines.at(-1)).toMatchObject({ msg: 'closed' });
  });

  it('gets failures with their ids, and no cause, which may hold a password', async () => {
    const { logger, lines } = realPino();
    const store = {
      ...memoryStore(),
      listSequences: async () => {
        throw new StoreError('the disk is full', { cause: new Error('hunter2') });
      },
    };
    await using server = await startServer(base, { store, logger });
    const headers = { 'x-request-id': 'order-18', traceparent: `00-${TRACE}-b7ad6b7169203331-00` };
    expect((await fetch(`${server.url}/v1/sequences`, { headers })).status).toBe(503);
    expect(lines.at(-1)).toMatchObject({
      level: 50,
      msg: 'request failed',
      code: 'STORE',
      message: 'the disk is full',
      path: '/v1/sequences',
      requestId: 'order-18',
      traceId: TRACE,
    });
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });

  it('may fail without stopping the server', async () => {
    const failing: Logger = {
      info() {
        throw new Error('no space left');
      },
      warn() {},
      error() {},
      child: () => failing,
    };
    await using server = await startServer(
      { ...base, log: 'requests' },
      { store: memoryStore(), logger: failing },
    );
    expect((await fetch(`${server.url}/v1/flakes`, { method: 'POST' })).status).toBe(200);
  });

  it.each<[string, unknown, string]>([
    ['the console', console, 'child is missing'],
    ['nothing', null, 'info is missing'],
    ['a function', () => {}, 'info is missing'],
    [
      'a logger whose child is none',
      { info() {}, warn() {}, error() {}, child: () => undefined },
      'the result of logger.child() must be a logger like that of pino',
    ],
  ])('cannot be replaced by %s', async (_, logger, message) => {
    const parts = { store: memoryStore(), logger: logger as Logger };
    await expect(startServer(base, parts)).rejects.toThrow(message);
  });

  it('is given in the place of write, not together with it', async () => {
    const parts = { store: memoryStore(), logger: realPino().logger, write() {} };
    await expect(startServer(base, parts)).rejects.toThrow('give a logger or write, not both');
  });
});
