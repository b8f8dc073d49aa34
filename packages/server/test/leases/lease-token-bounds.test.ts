import { join } from 'node:path';
import { type LeaseRecord, layouts, memoryStore, type Store } from 'idsmith';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder, removeFolder } from '#services/guard.ts';
import { createToken } from '../../src/index.ts';
import { NamespaceUse } from '../../src/ops/namespace-use.ts';
import { Rogue } from '../support/rogue.ts';
import { TestServer } from '../support/server.ts';

const DAY = 86_400_000;
const LINEAGE = 'first';

describe('A lease token writes at most what the server itself would write', () => {
  const folder = makeFolder('bounds');
  const tokens = join(folder, 'tokens.json');
  let inner: Store;
  let server: TestServer;
  let rogue: Rogue;
  let leaseToken: string;
  let admin: string;
  const node = (id: number, ttl: number): LeaseRecord => {
    const until = Date.now() + ttl;
    return { id, owner: 'r', epoch: 1, fence: until, expiresAt: until, label: 'rogue:1' };
  };
  const layout = (label: string) => ({ id: -2, owner: null, epoch: 0, fence: 0, expiresAt: 0, label });

  beforeAll(async () => {
    leaseToken = await createToken(tokens, { name: 'lease', scopes: ['lease'] });
    admin = await createToken(tokens, { name: 'admin', scopes: ['lease', 'admin'] });
  });
  afterAll(() => removeFolder(folder));
  beforeEach(async () => {
    inner = { ...memoryStore(), moment: async () => ({ now: Date.now(), lineage: LINEAGE }) };
    server = await TestServer.prepare({ tokens }, inner);
    rogue = new Rogue(server, leaseToken);
  });
  afterEach(() => server.stop());

  it('holds no node id for longer than the ttl of the server, which an administrator may', async () => {
    expect(await rogue.swap('jflake', null, node(5, DAY - 1000))).toBe('INVALID_OPTION');
    expect(await rogue.swap('jflake', null, node(5, 31_000))).toBe('INVALID_OPTION');
    expect(await rogue.swap('jflake', null, node(5, 29_000))).toBe(true);
    expect(await new Rogue(server, admin).swap('jflake', null, node(6, DAY - 1000))).toBe(true);
  });

  it('raises the longest ttl of a namespace no further, so that a loss stops nobody for a day', async () => {
    const birth = (await inner.listLeases('jflake')).find(({ id }) => id === -1) as LeaseRecord;
    expect(birth.epoch).toBe(30_000);
    const longer = { ...birth, owner: 'another', epoch: DAY };
    expect(await rogue.swap('jflake', birth, longer)).toBe('INVALID_OPTION');
    expect(await rogue.swap('new', null, { ...longer, fence: 0 })).toBe('INVALID_OPTION');
    expect(await new Rogue(server, admin).swap('jflake', birth, longer)).toBe(true);
    const { changes } = (await server.get('/v1/audit', { token: admin })).json;
    expect(changes[0]).toMatchObject({
      action: 'write namespace',
      subject: 'jflake',
      token: 'admin',
      after: { epoch: DAY },
    });
  });

  it('writes no layout that nobody can use, nor another one into a namespace named after a layout', async () => {
    for (const [namespace, label] of [
      ['new', 'any text'],
      ['new', ''],
      ['snowflake', '1/1 node:1@0'],
      ['snowflake', layouts.jflake.fingerprint],
      ['uuid7', layouts.jflake.fingerprint],
    ] as const)
      expect(await rogue.swap(namespace, null, layout(label)), `${namespace} ${label}`).toBe(
        'INVALID_OPTION',
      );
    expect(await rogue.swap('new', null, { ...layout(layouts.jflake.fingerprint), owner: 'r' })).toBe(
      'INVALID_OPTION',
    );
    expect(await rogue.swap('snowflake', null, layout(layouts.snowflake.fingerprint))).toBe(true);
    expect(await rogue.swap('mine', null, layout(`${layouts.jflake.fingerprint} nodes:0-7`))).toBe(true);
  });

  it('leaves node ids that an administrator frees in one request, at once if the programs have ended', async () => {
    for (let id = 10; id < 13; id++) expect(await rogue.swap('jflake', null, node(id, 29_000))).toBe(true);
    const [, id] = leaseToken.split('_');
    const path = `/v1/tokens/${id}/free`;
    expect((await server.post(path, { token: leaseToken })).status).toBe(403);
    const own = (await inner.listLeases('jflake')).find((each) => each.id === 0) as LeaseRecord;
    const before = (await inner.listLeases('jflake')).find((each) => each.id === 10) as LeaseRecord;
    // The holder may still mint in its window, which stays closed to others.
    expect((await server.post(path, { token: admin })).json).toMatchObject({ freed: 3 });
    const freed = (await inner.listLeases('jflake')).find((each) => each.id === 10);
    expect(freed).toMatchObject({ owner: null, fence: before.fence });
    expect(await rogue.swap('jflake', null, node(20, 29_000))).toBe(true);
    const { json } = await server.post(`${path}?stopped=true`, { token: admin });
    expect(json.freed).toBe(1);
    expect(json.until).toBeLessThanOrEqual(Date.now() + 10_000);
    expect((await inner.listLeases('jflake')).find((each) => each.id === 0)).toEqual(own);
  });

  it('begins a hundred namespaces at once, and hides none of those in use', async () => {
    const results: unknown[] = [];
    for (let i = 0; i < 105; i++)
      results.push(await rogue.swap(`!${i}`, null, { ...node(0, 0), fence: 0, expiresAt: 0 }));
    expect(results.filter((each) => each === true)).toHaveLength(100);
    expect(results.at(-1)).toBe('RATE_LIMITED');
    // Namespaces that exist are no new ones.
    expect(await rogue.swap('jflake', null, node(30, 1000))).toBe(true);
  });
});

describe('Too many namespaces', () => {
  it('are looked at by use, the own ones always, and the others in turn', () => {
    const use = new NamespaceUse(['zz-own']);
    const names = [...Array.from({ length: 30 }, (_, i) => `!${100 + i}`), 'used', 'zz-own'];
    const looked = new Set<string>();
    for (let look = 0; look < 12; look++) {
      const picked = use.pick(names, 10);
      expect(picked).toHaveLength(10);
      expect(picked).toContain('zz-own');
      for (const name of picked) {
        looked.add(name);
        const fence = name === 'used' ? 1000 + look : 0;
        use.saw(name, [{ id: 0, owner: 'o', epoch: 1, fence, expiresAt: fence, label: '' }]);
      }
    }
    expect(looked.size).toBe(names.length);
    expect(use.pick(names, 10)).toContain('used');
  });
});
