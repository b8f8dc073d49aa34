import { describe, expect, it } from 'vitest';
import { hasRestarted, pointBetween } from '../../src/lib/metrics-snapshot.ts';
import { parseMetrics } from '../../src/lib/prometheus.ts';

describe('the difference between two snapshots', () => {
  const snapshot = (at: number, text: string) => ({ at, samples: parseMetrics(text) });

  it('gives rates per second', () => {
    const before = snapshot(
      0,
      'idsmith_ids_minted_total{family="flake"} 100\nidsmith_requests_total{status="200"} 1',
    );
    const now = snapshot(
      2000,
      'idsmith_ids_minted_total{family="flake"} 500\nidsmith_ids_minted_total{family="key"} 6\n' +
        'idsmith_ids_minted_total{family="uuid7"} 8\n' +
        'idsmith_requests_total{status="200"} 5\nidsmith_requests_total{status="422"} 3\n' +
        'idsmith_requests_total{status="503"} 1\nidsmith_store_errors_total{operation="allocate"} 1\n',
    );
    expect(pointBetween(before, now)).toEqual({
      at: 2000,
      minted: { flake: 200, locality: 0, uuid7: 4, sequence: 0, key: 3 },
      latency: { p50: null, p99: null },
      errors: { client: 1.5, server: 0.5, store: 0.5 },
      requests: 4,
    });
  });

  it('does not count the requests of consoles and probes', () => {
    const at = (requests: number, own: number) =>
      `idsmith_requests_total{method="POST",path="/v1/flakes",status="200"} ${requests}\n` +
      `idsmith_requests_total{method="GET",path="/v1/server",status="200"} ${own}\n` +
      `idsmith_requests_total{method="GET",path="/metrics",status="200"} ${own}\n` +
      `idsmith_requests_total{method="GET",path="/",status="200"} ${own}\n` +
      `idsmith_console_requests_total ${own}\n`;
    expect(pointBetween(snapshot(0, at(10, 3)), snapshot(1000, at(17, 9))).requests).toBe(7);
  });

  it('does not exist when the server has restarted', () => {
    const before = snapshot(0, 'idsmith_requests_total{status="200"} 10');
    expect(hasRestarted(before, snapshot(1000, 'idsmith_requests_total{status="200"} 11'))).toBe(false);
    expect(hasRestarted(before, snapshot(1000, 'idsmith_requests_total{status="200"} 1'))).toBe(true);
  });
});
