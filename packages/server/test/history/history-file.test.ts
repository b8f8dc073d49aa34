import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore } from 'idsmith';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LeaseWatch } from '../../src/history/lease-watch.ts';
import { SequenceWatch } from '../../src/history/sequence-watch.ts';
import { HandedOut } from '../../src/mint/sequence-pool.ts';
import { TestServer } from '../support/server.ts';

describe('A history in a file', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'idsmith-history-'));
    file = join(folder, 'history.json');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const sum = (values: (number | null)[]) => values.reduce<number>((all, value) => all + (value ?? 0), 0);

  it('is there again after a restart', async () => {
    const run = async (use: (server: TestServer) => Promise<unknown>) => {
      const server = await TestServer.start({ historyFile: file });
      const { json } = await server.get('/v1/history?span=hour');
      await use(server).finally(() => server.stop());
      return { since: json.since as number, uuids: sum(json.series.uuid7.values) };
    };
    // Right before the end: no sample of the last seconds was taken yet.
    const first = await run((server) => server.post('/v1/uuid7?count=7'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['history.json']);
    expect(await run(async () => {})).toEqual({ since: first.since, uuids: 7 });
  });

  it('has every point again, and adds what others took from a sequence while no server ran', async () => {
    const store = memoryStore();
    await store.defineSequence({ name: 'orders', start: 1n, blockSize: 10 });
    const before = new SequenceWatch(store, new HandedOut());
    before.saw(await store.listSequences());
    await store.allocate('orders', 4);
    before.saw(await store.listSequences());
    const points = before.historyOf('orders')!.taken.hour;
    await store.allocate('orders', 3);
    const after = new SequenceWatch(store, new HandedOut());
    after.load(JSON.parse(JSON.stringify(before.save())));
    expect(after.historyOf('orders')!.taken.hour).toEqual(points);
    after.saw(await store.listSequences());
    expect(sum(after.historyOf('orders')!.taken.day.values)).toBeCloseTo(70, 1);
  });

  it('does not take a holder for certain who came while no server ran', async () => {
    const record = (epoch: number) => ({
      id: 3,
      owner: `owner ${epoch}`,
      epoch,
      fence: 9e15,
      expiresAt: 9e15,
      label: `host ${epoch}`,
    });
    const before = new LeaseWatch(memoryStore());
    before.saw('n', [], 1000);
    before.saw('n', [record(1)], 60_000);
    expect(before.holderAt('n', 3, 50_000)).toMatchObject({ isCertain: true, term: { label: 'host 1' } });
    const after = new LeaseWatch(memoryStore());
    after.load(JSON.parse(JSON.stringify(before.save())));
    after.saw('n', [record(2)], 900_000);
    expect(after.of('n').map(({ label }) => label)).toEqual(['host 2', 'host 1']);
    expect(after.of('n')[0]).toMatchObject({ isFromExact: false, after: 60_000 });
    after.saw('n', [record(3)], 910_000);
    expect(after.of('n')[0]).toMatchObject({ isFromExact: true });
  });

  it('refuses a file of another kind, and leaves it as it is', async () => {
    for (const text of ['my notes\n', '{"kind":"idsmith history","version":1,"server":{}}']) {
      writeFileSync(file, text);
      await expect(TestServer.start({ historyFile: file })).rejects.toThrow(
        /historyFile: ".*history\.json" is .*move this one away/,
      );
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  });

  it('refuses a folder that is not there, and a file without a history', async () => {
    const missing = join(folder, 'none', 'history.json');
    await expect(TestServer.start({ historyFile: missing })).rejects.toThrow(/cannot be written/);
    await expect(TestServer.start({ historyFile: file, history: 'off' })).rejects.toThrow(
      'historyFile: there is nothing to keep with history off',
    );
  });
});
