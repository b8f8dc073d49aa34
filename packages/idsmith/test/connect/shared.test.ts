import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineLayout, memoryStore } from 'idsmith';
import { connect } from 'idsmith/connect';
import { afterAll, describe, expect, it, vi } from 'vitest';

const named = (code: string) => expect.objectContaining({ code });
const folder = mkdtempSync(join(tmpdir(), 'idsmith-shared-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const fileUrl = () => `sqlite:${join(folder, `${files++}.db`)}`;

/** Two node ids. */
const pair = defineLayout({ epoch: 1_767_225_600_000, timeBits: 41, nodeBits: 1, sequenceBits: 12 });

describe('connect with shared', () => {
  it('gives the same object for the same URL while it is open, also to callers at the same time', async () => {
    const url = fileUrl();
    const [one, two] = await Promise.all([connect(url, { shared: true }), connect(url, { shared: true })]);
    expect(one).toBe(two);
    expect(await connect(url, { shared: true, signal: new AbortController().signal })).toBe(one);
    const other = await connect(fileUrl(), { shared: true });
    const own = await connect(url);
    expect(other).not.toBe(one);
    expect(own).not.toBe(one);
    await one.close();
    const next = await connect(url, { shared: true });
    expect(next).not.toBe(one);
    await Promise.all([next, other, own].map((each) => each.close()));
  });

  it('outlives a module that is evaluated again', async () => {
    const url = fileUrl();
    const before = await connect(url, { shared: true });
    const orders = await before.flakes('orders', { layout: pair });
    vi.resetModules();
    const again = await import('idsmith/connect');
    expect(again.connect).not.toBe(connect);
    for (let i = 0; i < 5; i++) {
      const ids = await again.connect(url, { shared: true });
      expect(ids).toBe(before);
      expect(await ids.flakes('orders', { layout: pair })).toBe(orders);
    }
    await before.close();
  });

  it('forgets an attempt that failed', async () => {
    const url = `sqlite:${join(folder, 'missing', 'ids.db')}`;
    await expect(connect(url, { shared: true })).rejects.toThrow(named('STORE'));
    await expect(connect(url, { shared: true })).rejects.toThrow(named('STORE'));
  });

  it('refuses another label, and a store, without showing the password', async () => {
    const url = fileUrl();
    const ids = await connect(url, { shared: true, label: 'one' });
    await expect(connect(url, { shared: true, label: 'two' })).rejects.toThrow(
      'the shared connection "sqlite:…" is open with another label: use the same options, or close it first',
    );
    await expect(connect(memoryStore(), { shared: true })).rejects.toThrow(named('INVALID_OPTION'));
    await expect(connect(url, { shared: 1 as never })).rejects.toThrow('shared must be');
    await ids.close();
  });

  it('leaves the connection to others when one of them is aborted', async () => {
    const url = fileUrl();
    const controller = new AbortController();
    const aborted = connect(url, { shared: true, signal: controller.signal });
    const kept = connect(url, { shared: true });
    controller.abort(new Error('no longer needed'));
    await expect(aborted).rejects.toThrow('no longer needed');
    const orders = await (await kept).flakes('orders');
    expect(orders.next()).toBeTypeOf('bigint');
    await (await kept).close();
  });
});

describe('node ids that this process itself holds', () => {
  it('are counted in the message when none is left', async () => {
    const url = fileUrl();
    const [one, two, three] = [await connect(url), await connect(url), await connect(url)];
    await one.flakes('orders', { layout: pair });
    await two.flakes('orders', { layout: pair });
    await expect(three.flakes('orders', { layout: pair })).rejects.toThrow(
      `no node id available in namespace ${JSON.stringify(pair.fingerprint)}: all 2 are held, 2 of them by this process itself: close() what is no longer used, ` +
        'or let every module share one connection with connect(url, { shared: true })',
    );
    await one.close();
    expect((await three.flakes('orders', { layout: pair })).next()).toBeTypeOf('bigint');
    await Promise.all([two.close(), three.close()]);
  });
});
