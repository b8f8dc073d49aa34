import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reshard, ShardMap } from '@idsmith/shard';
import { HashRing } from '@idsmith/shard/ring';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { makeFolder, removeFolder } from '#services/guard.ts';
import type { ServerProcess } from '#services/process.ts';
import { findings } from '../support/axe.ts';
import { launch, startConsole, Visit } from '../support/console.ts';

const NODES = { '10.1.0.1:7001': 1, '10.1.0.2:7001': 3 };
const CONFIG = JSON.stringify({
  shards: { left: [7001, '10.1.0.1'], right: ['7001', '10.1.0.2', '3'] },
  auth: { password: 'secret-of-the-ring' },
});

/** The share of each node, measured with other keys than those of the page. */
function sharesOf(nodes: Record<string, number>): Record<string, number> {
  const ring = new HashRing(nodes);
  const counts: Record<string, number> = {};
  for (let i = 0; i < 100_000; i++) {
    const node = ring.nodeOf(`session:${i}`);
    counts[node] = (counts[node] ?? 0) + 0.001;
  }
  return counts;
}

await describeWith(['chromium'], 'the page Ring', () => {
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startConsole(), launch()]);
    visit = await Visit.open(browser, server, 'ring');
  });
  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await server?.stop();
  });

  const sharesShown = async () => {
    const rows = visit.page.getByRole('region', { name: /\d nodes?$/ }).locator('tbody tr');
    return Object.fromEntries(
      await rows.evaluateAll((found) =>
        found.map((row) => [
          row.querySelector('th .mono')?.textContent ?? '',
          Number.parseFloat(row.querySelector('.ring__share')?.textContent ?? ''),
        ]),
      ),
    ) as Record<string, number>;
  };

  it('shows each node’s share of the keys of a pasted config', async () => {
    await visit.page.getByText('No ring yet').waitFor();
    await visit.field('Shard config').fill(CONFIG);
    await visit.heading('2 nodes').waitFor();
    const [shown, real] = [await sharesShown(), sharesOf(NODES)];
    expect(Object.keys(shown)).toEqual(Object.keys(NODES));
    for (const [name, share] of Object.entries(shown)) expect(Math.abs(share - real[name]!)).toBeLessThan(1);
  });

  it('shows the keys that an additional node would move', async () => {
    await visit.field('Host').fill('10.1.0.3');
    await visit.field('Port').fill('7001');
    await visit.field('Weight').fill('2');
    await visit.button('Calculate').click();
    const sentence = visit.page.getByRole('status').filter({ hasText: 'of the keys would move' });
    await sentence.waitFor();
    const percents = (await sentence.textContent())!.match(/[\d.]+(?= %)/g)!.map(Number);
    const real = sharesOf({ ...NODES, '10.1.0.3:7001': 2 })['10.1.0.3:7001']!;
    expect(Math.abs(percents[1]! - real)).toBeLessThan(1);
    expect(percents[0]).toBeGreaterThanOrEqual(percents[1]!);
    const moves = await visit.page.locator('.ring__moves tbody tr').evaluateAll((rows) =>
      rows.map((row) => ({
        isNew: row.querySelector('.badge') !== null,
        share: Number.parseFloat(row.querySelector('.ring__share')?.textContent ?? ''),
      })),
    );
    const toNew = moves.filter(({ isNew }) => isNew).reduce((sum, { share }) => sum + share, 0);
    expect(toNew).toBeCloseTo(percents[1]!, 0);
  });

  it('neither sends nor stores the config', async () => {
    expect(visit.requests.filter((url) => /secret|10\.1\.0/.test(url))).toEqual([]);
    const kept = await visit.page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
    );
    expect(kept).not.toContain('secret');
  });

  it('loads a config from a file', async () => {
    const buffer = Buffer.from('{"shards":{"only":[6379,"redis.example",5]}}');
    await visit
      .field('Load a file')
      .setInputFiles({ name: 'shards.json', mimeType: 'application/json', buffer });
    await visit.heading('1 node').waitFor();
    expect(await sharesShown()).toEqual({ 'redis.example:6379': 100 });
    expect(await visit.page.getByText('of the keys would move').count()).toBe(0);
  });

  it.each([
    ['{"shards": ', /^The config is not valid JSON: /],
    [
      '{"shards": {"a": [99999, "h"]}}',
      /^The port of shards\.a must be a whole number from 1 to 65535, not 99999\.$/,
    ],
    ['{"shards": {"a": [1, "h"], "b": [1, "h"]}}', /^Shards\.b has the address of shards\.a, h:1/],
    ['{"auth": "secret"}', /^A config must have either shards or a cluster\.$/],
  ])('answers the config %s beside the field', async (text, message) => {
    await visit.field('Shard config').fill(text);
    expect(await visit.errorOf('Shard config')).toMatch(message);
    expect(await visit.page.locator('.ring__chart').count()).toBe(0);
  });

  it.each([
    ['Host', '', 'Enter a host without spaces.'],
    ['Host', '10.0.0.1', '10.0.0.1:6379 is already on the ring.'],
    ['Port', '70000', 'The port must be a whole number from 1 to 65535.'],
    ['Weight', '0', 'The weight must be a whole number from 1 to 16777216.'],
  ])('answers a new node with the %s %j beside the field', async (label, value, message) => {
    await visit.button('Use the example').click();
    for (const [field, good] of Object.entries({ Host: '10.0.0.9', Port: '6379', Weight: '1' }))
      await visit.field(field).fill(field === label ? value : good);
    await visit.button('Calculate').click();
    expect(await visit.errorOf(label)).toBe(message);
  });
});

await describeWith(['chromium', 'redis'], 'the page Ring of a server with shards', () => {
  const folder = makeFolder('ring');
  const file = join(folder, 'shards.json');
  let redis: RedisServer[];
  let server: ServerProcess;
  let browser: Browser;
  let visit: Visit;
  const config = (count: number) => ({
    shards: Object.fromEntries(
      redis.slice(0, count).map(({ port }, i) => [`${i}`, [`${port}`, '127.0.0.1', 1]]),
    ),
    options: { maxSkew: 50, timeout: 20_000 },
  });

  beforeAll(async () => {
    redis = await Promise.all([startRedis(), startRedis(), startRedis()]);
    writeFileSync(file, JSON.stringify(config(2)));
    [server, browser] = await Promise.all([startConsole('--shards', file), launch()]);
    await fetch(`${server.url}/v1/keys?count=10`, { method: 'POST' });
    visit = await Visit.open(browser, server, 'ring');
  });
  afterAll(async () => {
    await visit?.close();
    await browser?.close();
    await server?.stop();
    await Promise.all((redis ?? []).map((each) => each.stop()));
    await removeFolder(folder);
  });

  it('shows the shards with their state, clock, keys and share', async () => {
    await visit.heading('Shards of this server (shards.json)').waitFor();
    for (const { port } of redis.slice(0, 2)) {
      const row = visit.row(`127.0.0.1:${port}`);
      await row.getByText('mints', { exact: true }).waitFor();
      expect(await row.textContent()).toMatch(/-?\d+ ms.*\d %/);
    }
    for (const width of [768, 390, 1280]) {
      await visit.page.setViewportSize({ width, height: 900 });
      expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      expect(await visit.cutTables()).toEqual([]);
    }
  });

  it('keeps nobody from using it, by the rules of axe', async () => {
    expect(await findings(visit)).toEqual([]);
  });

  it('plans the removal of a node, with the commands to run', async () => {
    await visit.page.getByText('Remove a node', { exact: true }).click();
    await visit.field('Node').selectOption({ index: 1 });
    await visit.button('Calculate').click();
    await visit.page.getByText('of the keys would move').waitFor();
    await visit.page.getByText('and remove "1" under shards').waitFor();
    const command = 'idsmith reshard --from shards.json --to next.json --dry-run';
    await visit.button(`Copy the command ${command}`).click();
    await expect.poll(visit.clipboard).toBe(command);
  });

  it('shows how far a resharding is that was stopped, and that others mint now', async () => {
    const maps = [new ShardMap(config(2) as never), new ShardMap(config(3) as never)] as const;
    for (const key of await maps[0].genKeys(1, 200)) await maps[0].getClient(key).set(key, 'x');
    const stop = new AbortController();
    await expect(
      reshard(...maps, {
        batch: 10,
        types: [1],
        signal: stop.signal,
        onProgress: ({ moved }) => moved > 0 && stop.abort(),
      }),
    ).rejects.toThrow('aborted');
    const panel = visit.page.getByRole('region', { name: 'Resharding' });
    await panel.getByText('keys go to the new nodes').waitFor();
    await panel.getByText(/^of about 2\d\d$/).waitFor();
    await visit.page.getByText('These nodes mint for another config: 0, 1.').waitFor();
    await Promise.all(maps.map((map) => map.close()));
  });

  it('warns of a clock that is wrong by more than the answer can explain', async () => {
    const [slow, wrong] = redis.slice(0, 2).map(({ port }) => visit.row(`127.0.0.1:${port}`));
    await visit.page.route('**/v1/ring', async (route) => {
      const response = await route.fetch();
      const ring = await response.json();
      ring.nodes.forEach((node: object, i: number) => {
        Object.assign(node, { clockAhead: 900, latency: i === 0 ? 1600 : 2 });
      });
      await route.fulfill({ response, json: ring });
    });
    await wrong!.locator('.badge.bad', { hasText: '+900 ms' }).waitFor();
    expect(await slow!.getByText('+900 ms').count()).toBe(1);
    expect(await slow!.locator('.badge.bad', { hasText: '+900 ms' }).count()).toBe(0);
    await visit.page.unrouteAll({ behavior: 'wait' });
  });

  it('shows a node that does not answer, beside the others', async () => {
    await redis[0]!.kill();
    await visit.row(`127.0.0.1:${redis[0]!.port}`).getByText('no answer').waitFor();
    await visit.page
      .getByRole('alert')
      .filter({ hasText: `node 127.0.0.1:${redis[0]!.port}` })
      .waitFor();
  });
});
