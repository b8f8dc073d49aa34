import { describe, expect, it } from 'vitest';
import { Metrics } from '../../../server/src/ops/metrics.ts';
import { parseMetrics, sum } from '../../src/lib/prometheus.ts';

describe('the parser of Prometheus text', () => {
  it('reads names, labels and values', () => {
    const samples = parseMetrics(
      '# HELP up Whether.\n# TYPE up gauge\nup 1\nids_total{family="flake",sequence=""} 1.5e3 1700000000\n',
    );
    expect(samples).toEqual([
      { name: 'up', labels: {}, value: 1 },
      { name: 'ids_total', labels: { family: 'flake', sequence: '' }, value: 1500 },
    ]);
  });

  it('reads what is escaped, and braces in labels', () => {
    const [sample] = parseMetrics('x{name="a\\"b\\\\c\\nd}e,f=\\"g"} +Inf');
    expect(sample).toEqual({ name: 'x', labels: { name: 'a"b\\c\nd}e,f="g' }, value: Infinity });
  });

  it('leaves out what is none', () => {
    expect(parseMetrics('\n\nhello\n{} 1\n# x 1\n')).toEqual([]);
  });

  it('reads all that the server writes', () => {
    const metrics = new Metrics();
    metrics.minted.add(5, 'sequence', 'a "b" \\ {c}');
    metrics.recordStoreDuration('allocate', 0.003);
    const samples = parseMetrics(metrics.text());
    metrics.close();
    expect(sum(samples, 'idsmith_ids_minted_total', ({ sequence }) => sequence === 'a "b" \\ {c}')).toBe(5);
    const lines = metrics.text().split('\n');
    expect(samples).toHaveLength(lines.filter((line) => line !== '' && !line.startsWith('#')).length);
  });
});
