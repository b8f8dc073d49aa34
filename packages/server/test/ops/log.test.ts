import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { jsonLines, makeLog } from '../../src/ops/log.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ log: 'requests' });
});
afterAll(() => server?.stop());
afterEach(() => vi.restoreAllMocks());

describe('The log', () => {
  it('is one JSON object a line, with every request if that is asked for', async () => {
    await server.post('/v1/flakes');
    await expect.poll(() => server.log.join('')).toContain('"path":"/v1/flakes"');
    const lines = server.log.map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ level: 'info', event: expect.any(String), time: expect.any(String) });
    expect(lines.find(({ event }) => event === 'request')).toMatchObject({
      method: 'POST',
      status: expect.any(Number),
      ms: expect.any(Number),
    });
  });

  it('tells once a second what goes wrong all the time, and how often it did', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(5000);
    const lines: string[] = [];
    const log = makeLog(
      'error',
      jsonLines((line) => lines.push(line)),
    );
    const error = Object.assign(new Error('the disk is full'), { code: 'STORE' });
    for (let i = 0; i < 1000; i++) log.error('request failed', { path: '/v1/x', error });
    log.error('request failed', { path: '/v1/y', error });
    log.info('not this');
    expect(lines.map((line) => JSON.parse(line).path)).toEqual(['/v1/x', '/v1/y']);
    now.mockReturnValue(6000);
    log.error('request failed', { path: '/v1/x', error });
    expect(JSON.parse(lines[2]!)).toMatchObject({ path: '/v1/x', andBefore: 999 });
  });

  it('says nothing of requests unless that is asked for', async () => {
    const quiet = await TestServer.start();
    await quiet.post('/v1/flakes');
    await quiet.stop();
    expect(quiet.log.join('')).not.toContain('flakes');
    expect(quiet.log.join('')).toContain('"event":"listening"');
  });
});
