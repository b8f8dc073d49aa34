// How long single requests take while so many a second come, whatever the server does: each is timed by itself.

import { connect } from 'node:net';

/** @returns latencies in milliseconds, and how many requests a second there really were */
export async function timeRequests(url, perSecond, seconds) {
  const { port, pathname } = new URL(url);
  const request = `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const idle = await Promise.all(Array.from({ length: 100 }, () => open(Number(port))));
  const latencies = [];
  const started = performance.now();
  let sent = 0;
  await new Promise((resolve) => {
    const timer = setInterval(() => {
      const elapsed = (performance.now() - started) / 1000;
      for (; sent < Math.min(elapsed, seconds) * perSecond && idle.length > 0; sent++) {
        const socket = idle.pop();
        const at = performance.now();
        socket.once('data', () => {
          latencies.push(performance.now() - at);
          idle.push(socket);
        });
        socket.write(request);
      }
      if (elapsed < seconds || latencies.length < sent) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
  for (const socket of idle) socket.destroy();
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.floor(share * (latencies.length - 1))];
  return { perSecond: sent / seconds, p50: at(0.5), p99: at(0.99), p999: at(0.999) };
}

function open(port) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.setNoDelay(true).once('error', reject);
  });
}
