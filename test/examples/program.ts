import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The path of a file of the examples. */
export const example = (path: string) => fileURLToPath(new URL(`../../examples/${path}`, import.meta.url));

const running = new Set<Program>();

/** An example as a process of its own. */
export class Program {
  readonly child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #exit: Promise<unknown[]>;
  #wake = () => {};
  errors = '';

  constructor(file: string, { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {}) {
    this.child = spawn(process.execPath, [file, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    running.add(this);
    this.#exit = once(this.child, 'exit').then((outcome) => {
      running.delete(this);
      this.#wake();
      return outcome;
    });
    this.child.stderr?.on('data', (chunk) => {
      this.errors = (this.errors + chunk).slice(-4000);
    });
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      this.#lines.push(line);
      this.#wake();
    });
  }

  /** The next line that it prints. */
  async line(): Promise<string> {
    while (this.#lines.length === 0) {
      if (!running.has(this)) throw new Error(`the example has ended:\n${this.errors}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#lines.shift() as string;
  }

  /** Ends it with a signal. Gives its exit code. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<unknown> {
    this.child.kill(signal);
    return (await this.#exit)[0];
  }
}

/** Ends every example that still runs, for `afterAll`. */
export async function endPrograms(): Promise<void> {
  await Promise.all([...running].map((program) => program.end('SIGKILL')));
}
