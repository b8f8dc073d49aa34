import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoryStore } from 'idsmith';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { TestServer } from '../support/server.ts';

// The alert rules and the dashboard of the documentation, in a Prometheus that scrapes a running server.

const docs = (name: string) => fileURLToPath(new URL(`../../../../docs/operating/${name}`, import.meta.url));

await describeWith(['prometheus', 'redis'], 'Prometheus', () => {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-prometheus-'));
  let server: TestServer;
  let redis: RedisServer[];
  let prometheus: ChildProcess;
  let url: string;

  beforeAll(async () => {
    const store = memoryStore();
    await store.defineSequence({ name: 'int32-orders', blockSize: 500, max: 1148 });
    await store.defineSequence({ name: 'fine' });
    redis = await Promise.all([startRedis(), startRedis()]);
    const shards = Object.fromEntries(redis.map(({ port }, i) => [i, [String(port), '127.0.0.1', 1]]));
    writeFileSync(join(folder, 'shards.json'), JSON.stringify({ shards }));
    server = await TestServer.start({ shards: join(folder, 'shards.json') }, store);
    await redis[1]?.kill();
    await server.post('/v1/sequences/int32-orders/next?count=1000');
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      // The waits of the rules are for people.
      rule_files: [join(folder, 'alerts.yml')],
      scrape_configs: [{ job_name: 'idsmith', static_configs: [{ targets: [`127.0.0.1:${server.port}`] }] }],
    };
    const rules = readFileSync(docs('alerts.yml'), 'utf8').replaceAll(/^ +for: .*\n/gm, '');
    writeFileSync(join(folder, 'alerts.yml'), rules);
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    );
  }, 60_000);
  afterAll(async () => {
    prometheus?.kill('SIGKILL');
    await server?.stop();
    await Promise.all((redis ?? []).map((each) => each.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  // biome-ignore lint/suspicious/noExplicitAny: answers of Prometheus
  const ask = async (path: string): Promise<any> => {
    try {
      return (await (await fetch(url + path)).json()).data;
    } catch {
      return undefined;
    }
  };

  it('finds the rules right', () => {
    expect(execFileSync('promtool', ['check', 'rules', docs('alerts.yml')], { encoding: 'utf8' })).toContain(
      'SUCCESS',
    );
  });

  it('finds the metrics right', async () => {
    const { text } = await server.get('/metrics');
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('alerts of the sequence at its end, of its refusals and of the shard that is down, and of nothing else', {
    timeout: 120_000,
  }, async () => {
    const alerts = async () => {
      await server.post('/v1/sequences/int32-orders/next');
      const { alerts = [] } = (await ask('/api/v1/alerts')) ?? {};
      return alerts.map(
        ({ labels }: { labels: { alertname: string; sequence?: string; shard?: string } }) =>
          `${labels.alertname} ${labels.sequence ?? labels.shard}`,
      );
    };
    await expect
      .poll(async () => (await alerts()).sort(), { timeout: 90_000, interval: 500 })
      .toEqual([
        'IdsmithSequenceExhausted int32-orders',
        'IdsmithSequenceRefusals int32-orders',
        'IdsmithShardDown 1',
      ]);
  });

  it('evaluates every rule and every panel of the dashboard, on metrics that are there', {
    timeout: 60_000,
  }, async () => {
    await server.post('/v1/flakes?count=5');
    const names = async () => ((await ask('/api/v1/label/__name__/values')) ?? []) as string[];
    await expect.poll(names).toContain('idsmith_ids_minted_total');
    const { groups } = await ask('/api/v1/rules');
    for (const { name, health } of groups[0].rules) expect([name, health]).toEqual([name, 'ok']);
    const dashboard = JSON.parse(readFileSync(docs('grafana-dashboard.json'), 'utf8'));
    const expressions: string[] = dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    );
    const known = await names();
    const rules = groups[0].rules.map(({ query }: { query: string }) => query);
    // Errors have no series before the first one.
    const late = ['idsmith_store_errors_total'];
    for (const expression of [...expressions, ...rules]) {
      for (const [name] of expression.matchAll(/\b(idsmith|process)_\w+/g))
        expect([...known, ...late], expression).toContain(name);
      const query = expression.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m');
      const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`);
      expect([response.status, expression]).toEqual([200, expression]);
    }
  });
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
