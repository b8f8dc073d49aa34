import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { run } from '../../src/cli/main.ts';

/** What a run of the command has besides its arguments. */
interface Surroundings {
  readonly input?: string | Uint8Array;
  readonly env?: Record<string, string>;
}

/** Runs the command in this process, and returns what a terminal would see. */
export function idsmith(...args: string[]) {
  return idsmithIn({}, ...args);
}

/** Runs the command in this process with these surroundings. */
export async function idsmithIn({ input = '', env = {} }: Surroundings, ...args: string[]) {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const texts = Promise.all([out, err].map(async (stream) => (await buffer(stream)).toString()));
  const stdin = Readable.from([Buffer.from(input)]);
  const status = await run(args, { stdin, stdout: out, stderr: err, env: { ...process.env, ...env } });
  out.end();
  err.end();
  const [stdout, stderr] = (await texts) as [string, string];
  return { status, stdout, stderr, lines: stdout.split('\n').slice(0, -1) };
}
