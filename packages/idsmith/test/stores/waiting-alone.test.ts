import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const dist = (path: string) =>
  JSON.stringify(new URL(`../../dist/stores/${path}/index.js`, import.meta.url).href);

/** An answer that nothing in the process waits for but the caller. */
const LATE = `const late = (body) => () =>
  new Promise((resolve) => {
    const headers = { date: new Date().toUTCString() };
    setTimeout(() => resolve(Response.json(body, { headers })), 300).unref();
  });`;

const STORES = {
  http: `const { httpStore } = await import(${dist('http')});
    const store = httpStore('http://127.0.0.1:1', { fetch: late({ now: 5, durable: true }) });`,
  etcd: `const { etcdStore } = await import(${dist('etcd')});
    const store = etcdStore({ endpoints: ['http://127.0.0.1:1'], fetch: late({ header: { cluster_id: '1' } }) });`,
};

describe('A process that only waits for an answer', () => {
  it.each(Object.entries(STORES))('of the %s store does not end before it', (_name, open) => {
    const program = `${LATE}\n${open}\nawait store.now();\nconsole.log('answered');`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'answered\n', stderr: '' });
  });
});
