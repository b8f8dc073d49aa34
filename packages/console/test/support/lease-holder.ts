import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./lease-holder.mjs', import.meta.url));

interface HolderOptions {
  readonly url: string;
  readonly namespace: string;
  readonly size: number;
  readonly ttl: number;
  readonly label: string;
  /** The distance of its last id ahead of the clock, ms. */
  readonly ahead?: number;
}

/** A process that holds a lease. */
export class Holder {
  readonly node: number;
  readonly #child: ChildProcess;

  private constructor(node: number, child: ChildProcess) {
    this.node = node;
    this.#child = child;
  }

  static async start({ url, namespace, size, ttl, label, ahead = 0 }: HolderOptions): Promise<Holder> {
    const args = [url, namespace, size, ttl, label, ahead].map(String);
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(() => {
        throw new Error(`the lease holder ${label} ended before it got a lease`);
      }),
    ])) as [Buffer];
    return new Holder(Number(line.toString()), child);
  }

  /** Ends the process. SIGTERM releases the lease; SIGKILL does not. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill(signal);
    await exited;
  }
}
