import { connect } from 'node:net';

/**
 * Sends `question` to a local port and resolves with what comes back as soon as `isWhole` says that the
 * answer is complete. Just enough to see whether a server answers, without needing its client.
 */
export function ask(
  port: number,
  question: string | Uint8Array,
  isWhole: (answer: Buffer) => boolean,
  timeoutMs = 1000,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let answer = Buffer.alloc(0);
    const socket = connect(port, '127.0.0.1', () => socket.write(question));
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer from port ${port}`)));
    socket.on('data', (chunk) => {
      answer = Buffer.concat([answer, chunk]);
      if (!isWhole(answer)) return;
      resolve(answer);
      socket.end();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`port ${port} closed the connection`)));
  });
}

/** Asks until `condition` holds; answers that are not there yet (exceptions) count as no. */
export async function until(
  condition: () => Promise<boolean>,
  { timeoutMs, whileTrue = () => true }: { timeoutMs: number; whileTrue?: () => boolean },
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (whileTrue() && Date.now() < deadline) {
    if (await condition().catch(() => false)) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}
