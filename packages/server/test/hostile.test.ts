import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  acquireLease,
  type Block,
  FlakeGenerator,
  type Lease,
  type LeaseRecord,
  LeasesExhaustedError,
  memoryStore,
  type Store,
} from 'idsmith';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { httpStore } from '../../idsmith/src/stores/http/store.ts';
import { repeated } from '../../idsmith/test/support/unique.ts';
import { createToken } from '../src/index.ts';
import { TestServer } from './support/server.ts';

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

/** A caller with a lease token who sends whatever it likes. */
class Rogue {
  readonly #server: TestServer;
  constructor(server: TestServer) {
    this.#server = server;
  }

  async list(namespace: string): Promise<{ now: number; leases: LeaseRecord[] }> {
    return (await this.#server.get(`/v1/leases/${namespace}`, { token: rogueToken })).json;
  }

  /** The answer, or the code of the problem. */
  async swap(namespace: string, expected: object | null, next: object): Promise<boolean | string> {
    const body = { expected, next };
    const { json } = await this.#server.post(`/v1/leases/${namespace}/swap`, { token: rogueToken, body });
    return json.swapped ?? json.code;
  }

  async tail(name: string, body: object): Promise<boolean | string> {
    const { json } = await this.#server.post(`/v1/sequences/${name}/tails`, { token: rogueToken, body });
    return json.returned ?? json.code;
  }

  /** Blocks as the server gives them. */
  async take(name: string): Promise<{ first: string; step: number; count: number; origin: number }> {
    return (await this.#server.post(`/v1/sequences/${name}/blocks`, { token: rogueToken })).json;
  }
}

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
    rogue = new Rogue(server);
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
      expect(await new Rogue(other).swap(namespace, mine, left)).toBe(true);
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
    expect(await stored()).toEqual(claim);
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
      ...{ id: -1, owner: 'r', epoch: 0, expiresAt: 0, label: '' },
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
      ...{ durable: false, maxTtl: MAX_TTL, now: async () => Date.now() },
    };
    const server = await TestServer.start({ tokens }, inner);
    const rogue = new Rogue(server);
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
});

describe('A lease token in hostile hands, against sequences', () => {
  let server: TestServer;
  let store: Store;
  let rogue: Rogue;
  let name: string;

  beforeAll(async () => {
    server = await TestServer.start({ tokens });
    store = httpStore(server.url, { token: honestToken });
    rogue = new Rogue(server);
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    name = `hostile-${names++}`;
    await store.defineSequence({ name, start: 1, blockSize: 10 });
  });

  const nextId = async () => (await store.describeSequence(name)).next;
  const idsOf = ({ first, step, count }: Block) =>
    Array.from({ length: count }, (_, i) => first + BigInt(i * step));

  it('gives back no more than it took last, so that nobody’s ids come twice', async () => {
    const ids = idsOf(await store.allocate(name, 2));
    const mine = await rogue.take(name);
    expect(mine).toMatchObject({ first: '21', count: 10 });
    for (const tail of [
      { ...mine, first: '1', count: 30 },
      { ...mine, first: '-69', count: 100 },
      { ...mine, first: '11', count: 20 },
      { ...mine, first: '20', count: 11 },
      { ...mine, first: '32', step: -1, count: 1 },
      { ...mine, first: '21', step: 5, count: 2 },
      { ...mine, first: '11', count: 10 },
    ])
      expect(await rogue.tail(name, tail), JSON.stringify(tail)).not.toBe(true);
    expect(await nextId()).toBe(31n);
    ids.push(...idsOf(await store.allocate(name, 5)));
    expect(repeated(ids.map(String))).toEqual([]);
  });

  it('gives back nothing without the receipt of the run', async () => {
    await rogue.take(name);
    await store.allocate(name, 1);
    const { origin: stale } = await rogue.take(name);
    await store.allocate(name, 1);
    // The run of the honest caller was the last: it ends where the sequence stands.
    for (const origin of [stale, undefined, 0, 1, stale + 1])
      expect(await rogue.tail(name, { first: '36', step: 1, count: 5, origin })).toBe(false);
    expect(await nextId()).toBe(41n);
  });

  it('gives a run back once, though the same place comes again', async () => {
    const mine = await rogue.take(name);
    const tail = { ...mine, first: '6', count: 5 };
    expect(await rogue.tail(name, tail)).toBe(true);
    await store.alterSequence(name, { blockSize: 5 });
    const ids = idsOf(await store.allocate(name, 1));
    expect(ids).toEqual([6n, 7n, 8n, 9n, 10n]);
    expect(await rogue.tail(name, tail)).toBe(false);
    ids.push(...idsOf(await store.allocate(name, 1)));
    expect(repeated(ids.map(String))).toEqual([]);
  });

  it('gives back to no other sequence, and none of a sequence that was removed', async () => {
    const mine = await rogue.take(name);
    const other = `${name}-other`;
    await store.defineSequence({ name: other, blockSize: 10 });
    await store.allocate(other, 1);
    expect(await rogue.tail(other, mine)).toBe(false);
    const again = await rogue.take(name);
    await store.removeSequence(name);
    await store.defineSequence({ name, blockSize: 20 });
    await store.allocate(name, 1);
    expect(await rogue.tail(name, again)).toBe(false);
    expect(await nextId()).toBe(21n);
  });

  it('leaves a gap where another server is asked to take a run back', async () => {
    const inner = memoryStore();
    await inner.defineSequence({ name, blockSize: 10 });
    const [one, two] = [await TestServer.start({ tokens }, inner), await TestServer.start({ tokens }, inner)];
    const block = await httpStore(one.url, { token: honestToken }).allocate(name, 1);
    expect(await httpStore(two.url, { token: honestToken }).giveBack!(name, block)).toBe(false);
    expect(await httpStore(one.url, { token: honestToken }).giveBack!(name, block)).toBe(true);
    expect((await inner.describeSequence(name)).next).toBe(1n);
    await one.stop();
    await two.stop();
  });
});
