import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServerProcess, startDynalite } from '#services';
import { openStore } from '../../packages/idsmith/src/stores/open.ts';
import type { Store } from '../../packages/idsmith/src/stores/store.ts';
import { makeFolder, removeFolder } from '../services/guard.ts';
import { endPrograms, example, Program } from './program.ts';

const runtime = fileURLToPath(new URL('./lambda-runtime.mjs', import.meta.url));
const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
/** Errors of requests that took too long. */
const RETRIED = ['StoreError', 'TimeoutError'];

interface Answer {
  readonly statusCode: number;
  readonly id: string;
  readonly node: number;
}

describe('The example of AWS Lambda', () => {
  let dynamodb: ServerProcess;
  let folder: string;
  let bundle: string;
  let store: Store;
  let env: Record<string, string>;

  beforeAll(async () => {
    Object.assign(process.env, credentials);
    dynamodb = await startDynalite();
    // Where no package can be found: everything has to be in the bundle.
    folder = makeFolder('lambda');
    bundle = join(folder, 'handler.mjs');
    execFileSync(process.execPath, [example('lambda/build.mjs'), bundle]);
    const url = `dynamodb://eu-west-1/ids?endpoint=${dynamodb.url}`;
    store = await openStore(url);
    env = { ...credentials, STORE_URL: url, LEASE_TTL: '6000' };
  });
  afterAll(async () => {
    await endPrograms();
    await store?.close();
    await dynamodb?.stop();
    if (folder) await removeFolder(folder);
  });

  const instance = (settings: Record<string, string> = {}) =>
    new Program(runtime, { args: [bundle], env: { ...env, ...settings } });
  async function invoke(program: Program): Promise<Answer> {
    for (;;) {
      program.child.stdin?.write('{}\n');
      const answer = JSON.parse(await program.line());
      if (answer.errorType === undefined) return answer;
      // A store that takes longer than a third of the lease, on a machine that stands still: callers try again.
      if (!RETRIED.includes(answer.errorType)) throw new Error(`${answer.errorType}: ${answer.errorMessage}`);
    }
  }

  it('gives no id twice when an instance is frozen for longer than its lease, and thawed', async () => {
    const [frozen, other] = [instance(), instance()];
    const answers = [await invoke(frozen), await invoke(other)];
    expect(answers[0]?.node).not.toBe(answers[1]?.node);
    frozen.child.kill('SIGSTOP');
    // The clock of the service has whole seconds.
    const isExpired = async () => {
      const records = await store.listLeases('jflake');
      return (records.find(({ id }) => id === answers[0]?.node)?.expiresAt ?? 0) < Date.now() - 2000;
    };
    await expect.poll(isExpired).toBe(true);
    const late = instance();
    answers.push(await invoke(late));
    // The node id of the frozen instance was free again.
    expect(answers[2]?.node).toBe(answers[0]?.node);
    frozen.child.kill('SIGCONT');
    for (const program of [frozen, late, other, frozen]) answers.push(await invoke(program));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(7).fill(201));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(7);
    expect(answers[3]?.node).not.toBe(answers[2]?.node);
  });

  it('releases its lease when it is told to end', async () => {
    // A release waits for the store for a third of the ttl. Then the lease expires.
    const program = instance({ LEASE_TTL: '60000' });
    const { node } = await invoke(program);
    expect(await program.end('SIGTERM')).toBe(0);
    expect((await store.listLeases('jflake')).find(({ id }) => id === node)?.owner).toBe(null);
  });
});
