import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { describeWith } from '#services';
import { TestServer } from './support/server.ts';

// The configuration of the documentation, on another port and with a certificate of its own.

const CONFIG = fileURLToPath(new URL('../../../docs/operating/nginx.conf', import.meta.url));

await describeWith(['nginx'], 'The server behind nginx', () => {
  it('serves the console and the API under a path, with TLS, on a port other than 443', async ({
    onTestFinished,
  }) => {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-nginx-'));
    const [server, token] = await TestServer.startWithToken();
    const port = await freePort();
    execFileSync(
      'openssl',
      `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout ${folder}/ids.key -out ${folder}/ids.crt`.split(
        ' ',
      ),
      { stdio: 'ignore' },
    );
    const site = readFileSync(CONFIG, 'utf8')
      .replaceAll('/etc/nginx/', `${folder}/`)
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace('ids.example.com;', 'localhost;')
      .replace('127.0.0.1:7600', `127.0.0.1:${server.port}`);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    writeFileSync(
      `${folder}/nginx.conf`,
      `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {} http { access_log off; ${temporary.join(' ')} ${site} }`,
    );
    const nginx = spawn('nginx', ['-c', `${folder}/nginx.conf`, '-p', folder, '-e', `${folder}/start.log`], {
      stdio: 'ignore',
    });
    onTestFinished(async () => {
      nginx.kill('SIGTERM');
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const call = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
      new Promise<[number, string]>((resolve) => {
        const sent = request(
          { host: 'localhost', port, path, method, headers, rejectUnauthorized: false },
          (response) => {
            let text = '';
            response.on('data', (part) => {
              text += part;
            });
            response.on('end', () => resolve([response.statusCode ?? 0, text]));
          },
        );
        sent.on('error', () => resolve([0, '']));
        sent.end(body);
      });
    await expect.poll(async () => (await call('GET', '/ids/healthz'))[0], { timeout: 20_000 }).toBe(200);
    expect((await call('GET', '/ids/'))[0]).toBe(200);
    expect((await call('GET', '/ids'))[0]).toBe(301);
    const authorization = `Bearer ${token}`;
    expect((await call('POST', '/ids/v1/flakes', { authorization }))[0]).toBe(200);
    // As a browser sends it from the console, on a port of its own.
    const fromConsole = {
      authorization,
      origin: `https://localhost:${port}`,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
    };
    expect(await call('POST', '/ids/v1/sequences', fromConsole, JSON.stringify({ name: 'a' }))).toMatchObject(
      [201, expect.any(String)],
    );
    // A name with slashes and dots stays one name: neither another sequence nor another route is meant.
    const named = (name: string) => `/ids/v1/sequences/${encodeURIComponent(name)}`;
    expect((await call('DELETE', named('x/../a'), { authorization }))[0]).toBe(404);
    expect((await call('GET', named('a'), { authorization }))[0]).toBe(200);
    expect((await call('GET', named('../../audit'), { authorization }))[0]).toBe(404);
    const slashed = JSON.stringify({ name: 'shop/orders' });
    expect((await call('POST', '/ids/v1/sequences', fromConsole, slashed))[0]).toBe(201);
    const drawn = await call('POST', `${named('shop/orders')}/next`, { authorization });
    expect(drawn).toEqual([200, '{"ids":["1"]}']);
    expect(
      (await call('POST', '/ids/v1/flakes', { ...fromConsole, origin: 'https://elsewhere.example' }))[0],
    ).toBe(403);
  }, 60_000);
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
