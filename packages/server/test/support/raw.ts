import { connect } from 'node:net';

/** Sends bytes to a port and returns everything that comes back until the connection ends. */
export function exchange(port: number, ...chunks: (string | Uint8Array)[]): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => {
      for (const chunk of chunks) socket.write(chunk);
    });
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    // A write after the server has refused resets the connection. The response before that still counts.
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
  });
}

/**
 * Sends `count` requests over a few connections, several pipelined on each, and returns the number of responses by status.
 */
export async function flood(
  port: number,
  count: number,
  request: (i: number) => string,
): Promise<Map<string, number>> {
  const [connections, depth] = [10, 10];
  const statuses = new Map<string, number>();
  let sent = 0;
  const work = Array.from({ length: connections }, () => {
    return new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let open = 0;
      let rest = '';
      const more = () => {
        let text = '';
        for (; open < depth && sent < count; open++) text += request(sent++);
        if (text !== '') socket.write(text);
        else if (open === 0) socket.end();
      };
      socket.on('connect', more);
      socket.on('error', reject);
      socket.on('close', () => resolve());
      socket.on('data', (chunk) => {
        rest += chunk.toString('latin1');
        const answers = rest.split('HTTP/1.1 ');
        // The last response may not be complete yet, but only its status counts.
        const whole =
          rest.lastIndexOf('HTTP/1.1 ') + 12 <= rest.length ? answers.slice(1) : answers.slice(1, -1);
        for (const answer of whole) {
          const status = answer.slice(0, 3);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
        open -= whole.length;
        rest = whole.length === answers.length - 1 ? '' : `HTTP/1.1 ${answers.at(-1)}`;
        if (open < depth / 2) more();
      });
    });
  });
  await Promise.all(work);
  return statuses;
}
