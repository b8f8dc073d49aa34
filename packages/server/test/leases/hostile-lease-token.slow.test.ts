import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  acquireLease,
  FlakeGenerator,
  type Lease,
  type LeaseRecord,
  LeasesExhaustedError,
  memoryStore,
  type Store,
} from 'idsmith';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { httpStore } from '../../../idsmith/src/stores/http/store.ts';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { createToken } from '../../src/index.ts';
import { Rogue } from '../support/rogue.ts';
import { TestServer } from '../support/server.ts';

const DAY = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'idsmith-hostile-'));
const tokens = join(folder, 'tokens.json');
let honestToken: string;
let rogueToken: string;
let names = 0;

beforeAll(async () => {
  honestToken = await createToken(tokens, { name: 'honest', scopes: ['lease', 'admin'] });
  rogueToken = await createToken(tokens, { name: 'rogue', scopes: ['lease'] });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('A lease token in hostile hands, against the leases of others', () => {
  let inner: Store;
  let server: TestServer;
  let store: Store;
  let rogue: Rogue;
  let namespace: string;
  let lease: Lease;
  let generator: FlakeGenerator;
  let held: LeaseRecord;
  /** One reading for all generators: two of them on one node then mint the same ids, not nearly the same. */
  let now: number;
  const clock = { now: () => now };
  const options = () => ({ namespace, size: 1, clock, waitFor: 0, ttl: 60_000 });

  beforeEach(async () => {
    inner = memoryStore();
    server = await TestServer.start({ tokens }, inner);
    store = httpStore(server.url, { token: honestToken });
    rogue = new Rogue(server, rogueToken);
    namespace = `hostile-${names++}`;
    now = Date.now();
    lease = await acquireLease(store, options());
    generator = new FlakeGenerator({ node: lease, clock });
    held = (await inner.listLeases(namespace)).find(({ id }) => id === lease.id) as LeaseRecord;
  });
  afterEach(async () => {
    await lease.release();
    await server.stop();
  });

  const stored = async () => (await inner.listLeases(namespace)).find(({ id }) => id === held.id);

  it('is shown no owner', async () => {
    const { leases } = await rogue.list(namespace);
    const shown = leases.find(({ id }) => id === held.id) as LeaseRecord;
    expect(shown).toEqual({ ...held, owner: expect.stringMatching(/^sha256:[0-9a-f]{32}$/) });
    expect(JSON.stringify(leases)).not.toContain(held.owner);
  });

  it('cannot release a lease so that a second holder mints the same ids', async () => {
    const { leases } = await rogue.list(namespace);
    const shown = leases.find(({ id }) => id === held.id) as LeaseRecord;
    const ids = generator.batch(1000);
    await rogue.swap(namespace, shown, { ...shown, owner: null, fence: 0, expiresAt: 0 });
    const second = await acquireLease(store, options()).catch((error: unknown) => error);
    if (!(second instanceof LeasesExhaustedError))
      ids.push(...new FlakeGenerator({ node: second as Lease, clock }).batch(1000));
    ids.push(...generator.batch(1000));
    expect(repeated(ids.map(String))).toEqual([]);
    expect(second).toBeInstanceOf(LeasesExhaustedError);
  });

  it('changes nothing of a live lease, whatever it sends', async () => {
    const { leases, now: time } = await rogue.list(namespace);
    const shown = leases.find(({ id }) => id === held.id) as LeaseRecord;
    const { epoch, fence } = held;
    const guesses = [shown.owner, '', null, 'a', `${shown.owner}0`, shown.owner?.slice(7), 'sha256:'];
    const changes: Partial<LeaseRecord>[] = [
      { owner: null, expiresAt: 0 },
      { owner: null, expiresAt: 0, fence: 0 },
      { owner: null, expiresAt: 0, fence: time, epoch: epoch + 1 },
      { owner: 'rogue', epoch: epoch + 1 },
      { owner: 'rogue', epoch: epoch + 1, fence: fence + 60_000, expiresAt: fence + 60_000 },
      { owner: 'rogue', epoch: Number.MAX_SAFE_INTEGER },
      { owner: 'rogue' },
      { owner: 'rogue', epoch: epoch - 1 },
      { fence: fence + 1000, expiresAt: fence + 1000 },
      { fence: 0 },
      { expiresAt: 0 },
      { label: 'renamed' },
      { id: 7 },
      { id: -1 },
    ];
    for (const owner of guesses)
      for (const change of changes) {
        const result = await rogue.swap(namespace, { ...shown, owner }, { ...shown, owner, ...change });
        expect([false, 'INVALID_OPTION'], JSON.stringify({ owner, change })).toContain(result);
      }
    for (const change of changes) {
      const next = { ...shown, ...change };
      if (next.id === held.id) expect(await rogue.swap(namespace, null, next)).not.toBe(true);
    }
    expect(await stored()).toEqual(held);
  });

  it('cannot lower a fence by taking a node id and releasing it', async () => {
    const ids = generator.batch(100);
    await lease.release();
    const { fence } = (await stored()) as LeaseRecord;
    expect(fence).toBe(now + 1);
    for (const path of ['same server', 'another server']) {
      const [free] = (await rogue.list(namespace)).leases.filter(({ id }) => id === held.id);
      const until = Date.now() + 5000;
      const mine = { ...free, owner: 'r', epoch: free!.epoch + 1, fence: until, expiresAt: until };
      expect(await rogue.swap(namespace, free!, mine)).toBe(true);
      const other = path === 'same server' ? server : await TestServer.start({ tokens }, inner);
      const left = { ...mine, owner: null, fence: 0, expiresAt: 0 };
      expect(await new Rogue(other, rogueToken).swap(namespace, mine, left)).toBe(true);
      expect(((await stored()) as LeaseRecord).fence, path).toBeGreaterThanOrEqual(fence);
      if (other !== server) await other.stop();
    }
    // The next holder, whose clock is at the same reading, begins above all that was minted.
    const second = await acquireLease(store, { ...options(), waitFor: 10_000 });
    expect(second.from).toBeGreaterThanOrEqual(fence);
    now = second.from;
    ids.push(...new FlakeGenerator({ node: second, clock }).batch(100));
    expect(repeated(ids.map(String))).toEqual([]);
    await second.release();
  });

  it('takes an expired lease only as everybody does: one epoch later, from the fence on', async () => {
    const expired = { ...held, fence: now - 1, expiresAt: now - 1, owner: 'somebody' };
    expect(await inner.swapLease(namespace, held, expired)).toBe(true);
    const [shown] = (await rogue.list(namespace)).leases.filter(({ id }) => id === held.id);
    const claim = { ...shown, owner: 'r', epoch: held.epoch + 1, fence: now + 5000, expiresAt: now + 5000 };
    for (const change of [
      { owner: null, expiresAt: 0 },
      { owner: null, expiresAt: 0, fence: 0 },
      { epoch: held.epoch },
      { epoch: held.epoch + 2 },
      { fence: expired.fence - 1 },
      { fence: now + 2 * DAY },
      { expiresAt: now + 2 * DAY },
    ])
      expect(await rogue.swap(namespace, shown!, { ...claim, ...change })).toBe('INVALID_OPTION');
    expect(await stored()).toEqual(expired);
    expect(await rogue.swap(namespace, shown!, claim)).toBe(true);
    expect(await stored()).toEqual({ ...claim, label: expect.stringMatching(/ \[token [0-9a-f]{12}\]$/) });
  });

  it('cannot put a node id out of use for longer than a ttl can be', async () => {
    const fresh = { id: 5, owner: 'r', epoch: 1, fence: now + 1000, expiresAt: now + 1000, label: '' };
    for (const change of [
      { fence: now + 2 * DAY },
      { fence: Number.MAX_SAFE_INTEGER },
      { expiresAt: now + 2 * DAY },
      { epoch: Number.MAX_SAFE_INTEGER },
      { owner: null, fence: now + 2 * DAY },
    ])
      expect(await rogue.swap(namespace, null, { ...fresh, ...change })).toBe('INVALID_OPTION');
    expect(await rogue.swap(namespace, null, fresh)).toBe(true);
    for (const far of [
      { ...fresh, fence: now + 2 * DAY },
      { ...fresh, owner: null, fence: now + 2000 },
    ])
      expect(await rogue.swap(namespace, fresh, far)).toBe('INVALID_OPTION');
  });

  it('changes no record of the namespace itself', async () => {
    const layout = { id: -2, owner: null, epoch: 0, fence: 0, expiresAt: 0, label: 'a layout' };
    await inner.swapLease(namespace, undefined, layout);
    const known = (await inner.listLeases(namespace)).find(({ id }) => id === -2) as LeaseRecord;
    for (const change of [{ label: 'another' }, { owner: 'r' }, { epoch: 1 }, { fence: 1 }, { id: 0 }]) {
      expect(await rogue.swap(namespace, known, { ...known, ...change })).toBe('INVALID_OPTION');
      if (change.id === undefined)
        expect(await rogue.swap(namespace, null, { ...known, ...change })).toBe(false);
    }
    expect(await inner.listLeases(namespace)).toContainEqual(known);
    // A durable store has no birth records; one without a date would close the namespace to everybody.
    const birth = {
      id: -1,
      owner: 'r',
      epoch: 0,
      expiresAt: 0,
      label: '',
      fence: Number.MAX_SAFE_INTEGER,
    };
    for (const fence of [birth.fence, now, now + DAY])
      expect(await rogue.swap(namespace, null, { ...birth, fence })).toBe('INVALID_OPTION');
  });

  it('lets honest holders renew, release and replace each other all the while', async () => {
    const ids: bigint[] = [];
    for (let round = 0; round < 30; round++) {
      now = Math.max(now + 1, Date.now());
      const { leases, now: time } = await rogue.list(namespace);
      const attacks = leases.flatMap((shown) => [
        rogue.swap(namespace, shown, { ...shown, owner: null, fence: 0, expiresAt: 0 }),
        rogue.swap(namespace, shown, { ...shown, owner: 'r', epoch: shown.epoch + 1, expiresAt: time }),
        rogue.swap(namespace, shown, { ...shown, fence: shown.fence + 1, expiresAt: shown.fence + 1 }),
      ]);
      ids.push(...generator.batch(50));
      expect(await Promise.all(attacks)).not.toContain(true);
      ids.push(...generator.batch(50));
      if (round % 3 !== 2) continue;
      await lease.release();
      lease = await acquireLease(store, { ...options(), waitFor: 10_000 });
      now = Math.max(now, lease.from);
      generator = new FlakeGenerator({ node: lease, clock });
    }
    expect(repeated(ids.map(String))).toEqual([]);
  });
});

describe('A lease token in hostile hands, on a store that can forget', () => {
  const MAX_TTL = 60_000;

  it('dates a namespace once, neither too early nor for ever, and holds nothing for long', async () => {
    const inner: Store = {
      ...memoryStore(),
      durable: false,
      maxTtl: MAX_TTL,
      now: async () => Date.now(),
    };
    const server = await TestServer.start({ tokens }, inner);
    const rogue = new Rogue(server, rogueToken);
    const now = Date.now();
    const undated = { id: -1, owner: 'b', epoch: 0, fence: Number.MAX_SAFE_INTEGER, expiresAt: 0, label: '' };
    const dated = { ...undated, epoch: MAX_TTL, fence: now + MAX_TTL + 20_000 };
    const wrong = [
      { fence: now },
      { fence: 0 },
      { fence: now + MAX_TTL - 1 },
      { fence: now + DAY },
      { owner: null },
      { epoch: 1 },
      { epoch: Number.MAX_SAFE_INTEGER },
      { epoch: 2 * MAX_TTL },
      // A limit of a day would close the namespace for a day.
      { epoch: DAY, fence: now + DAY + 20_000 },
      { epoch: 3_600_001, fence: now + 3_600_001 + 20_000 },
    ];
    for (const change of wrong)
      expect(await rogue.swap('new', null, { ...dated, ...change }), JSON.stringify(change)).toBe(
        'INVALID_OPTION',
      );
    expect(await rogue.swap('new', null, undated)).toBe(true);
    for (const change of [...wrong, { owner: 'c' }])
      expect(await rogue.swap('new', undated, { ...dated, ...change })).toBe('INVALID_OPTION');
    expect(await rogue.swap('new', undated, dated)).toBe(true);
    for (const change of [{ fence: dated.fence - 1 }, { fence: undated.fence }, { owner: 'c' }, { epoch: 0 }])
      expect(await rogue.swap('new', dated, { ...dated, ...change })).toBe('INVALID_OPTION');
    expect(await inner.listLeases('new')).toEqual([dated]);
    const far = now + 2 * MAX_TTL;
    const node = { id: 0, owner: 'r', epoch: 1, fence: far, expiresAt: far, label: '' };
    expect(await rogue.swap('new', null, node)).toBe('INVALID_OPTION');
    expect(await rogue.swap('new', null, { ...node, owner: null, expiresAt: 0 })).toBe('INVALID_OPTION');
    await server.stop();
  });

  it('keeps to the ttl that the first client of the namespace has set, when it claims and when it renews', async () => {
    const inner: Store = {
      ...memoryStore(),
      durable: false,
      maxTtl: MAX_TTL,
      now: async () => Date.now(),
    };
    const server = await TestServer.start({ tokens }, inner);
    const rogue = new Rogue(server, rogueToken);
    // A client that reaches the store without the server waits for two seconds only, if the store loses the namespace.
    const birth = { id: -1, owner: 'b', epoch: 2000, fence: Date.now() - 1, expiresAt: 0, label: '' };
    await inner.swapLease('short', undefined, birth);
    const windowOf = (ttl: number) => ({ fence: Date.now() + ttl, expiresAt: Date.now() + ttl });
    const node = { id: 0, owner: 'r', epoch: 1, label: '' };
    expect(await rogue.swap('short', null, { ...node, ...windowOf(30_000) })).toBe('INVALID_OPTION');
    const claimed = { ...node, ...windowOf(1500) };
    expect(await rogue.swap('short', null, claimed)).toBe(true);
    expect(await rogue.swap('short', claimed, { ...claimed, ...windowOf(30_000) })).toBe('INVALID_OPTION');
    expect(await rogue.swap('short', claimed, { ...claimed, ...windowOf(1900) })).toBe(true);
    await server.stop();
  });
});
