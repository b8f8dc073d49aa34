import { FlakeGenerator, LocalityGenerator, layouts, Uuid7Generator } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { meanwhile, named, setUp, TTL } from './set-up.ts';

const closed = named('CLOSED');

/** Everything by which a flake generator mints or waits. */
const flakeMethods: Record<string, (generator: FlakeGenerator) => unknown> = {
  next: (generator) => generator.next(),
  nextString: (generator) => generator.nextString(),
  'batch(3)': (generator) => generator.batch(3),
  'batch(0)': (generator) => generator.batch(0),
  fill: (generator) => generator.fill(new BigUint64Array(2)),
  nextAsync: (generator) => generator.nextAsync(),
  ready: (generator) => generator.ready(),
};

const localityMethods: Record<string, (generator: LocalityGenerator) => unknown> = {
  next: (generator) => generator.next(),
  nextUuid: (generator) => generator.nextUuid(),
  'batch(3)': (generator) => generator.batch(3),
  'batch(0)': (generator) => generator.batch(0),
  fill: (generator) => generator.fill(new Uint8Array(32)),
  'fill nothing': (generator) => generator.fill(new Uint8Array(0)),
  useSequentialIds: (generator) => generator.useSequentialIds(),
  useVariableIds: (generator) => generator.useVariableIds(),
};

async function expectClosed<T>(generator: T, methods: Record<string, (generator: T) => unknown>) {
  for (const [name, call] of Object.entries(methods))
    await expect((async () => call(generator))(), name).rejects.toThrow(closed);
}

async function flakeOnLease() {
  const parts = setUp();
  const held = await parts.lease();
  const clock = parts.time.clock();
  const generator = new FlakeGenerator({ node: held, clock });
  generator.next();
  return { ...parts, held, clock, generator };
}

async function localityOnLease() {
  const parts = setUp();
  const held = await parts.lease();
  const clock = parts.time.clock();
  const generator = new LocalityGenerator({ node: held, clock });
  generator.batch(5);
  generator.next();
  return { ...parts, held, clock, generator };
}

describe('after release() of the lease', () => {
  it('every method of a flake generator throws ClosedError, in every thread', async () => {
    const { clock, held, generator } = await flakeOnLease();
    const handle = generator.share();
    const attached = FlakeGenerator.attach(handle, { clock });
    attached.next();
    const released = held.release();
    const late = FlakeGenerator.attach(handle, { clock });
    for (const each of [generator, attached, late]) await expectClosed(each, flakeMethods);
    await released;
    for (const each of [generator, attached, late]) {
      await expectClosed(each, flakeMethods);
      expect(() => each.share()).toThrow(closed);
    }
  });

  it('every method of a locality generator throws ClosedError', async () => {
    const { held, generator } = await localityOnLease();
    const released = held.release();
    await expectClosed(generator, localityMethods);
    await released;
    await expectClosed(generator, localityMethods);
    expect(() => generator.share()).toThrow(closed);
  });

  it('a clock that tells no time hides nothing', async () => {
    const { held, clock, generator } = await flakeOnLease();
    await held.release();
    clock.offset = Number.NaN;
    await expectClosed(generator, flakeMethods);
    const other = await localityOnLease();
    await other.held.release();
    other.clock.offset = Number.NaN;
    await expectClosed(other.generator, localityMethods);
  });

  it('every method of the lease that waits throws ClosedError, and a new generator is refused', async () => {
    const { lease } = setUp();
    const held = await lease();
    await held.close();
    await held.close();
    await held[Symbol.asyncDispose]();
    await expect(held.whenActive()).rejects.toThrow(closed);
    expect(() => held.fence()).toThrow(closed);
    expect(() => new FlakeGenerator({ node: held })).toThrow(closed);
    expect(() => new LocalityGenerator({ node: held })).toThrow(closed);
  });
});

describe('after close() of a generator', () => {
  it('a flake generator with the lease of its caller throws ClosedError, and so do its threads', async () => {
    const { clock, store, held, generator } = await flakeOnLease();
    const handle = generator.share();
    const attached = FlakeGenerator.attach(handle, { clock });
    const last = layouts.jflake.decode(attached.next()).timestamp;
    await generator.close();
    await generator[Symbol.asyncDispose]();
    for (const each of [generator, attached, FlakeGenerator.attach(handle, { clock })])
      await expectClosed(each, flakeMethods);
    expect(held.state).toBe('active');
    await held.release();
    expect((await store.listLeases('test'))[0]).toMatchObject({ owner: null, fence: last + 1 });
  });

  it('stays closed though the lease is renewed and replaced', async () => {
    const { time, held, generator } = await flakeOnLease();
    const other = await localityOnLease();
    await Promise.all([generator.close(), other.generator.close()]);
    for (const each of [time, other.time]) await each.advance(TTL);
    for (const lease of [held, other.held]) lease.fence();
    for (const each of [time, other.time]) await each.advance(TTL);
    expect(held).toMatchObject({ state: 'active', id: 1 });
    await expectClosed(generator, flakeMethods);
    await expectClosed(other.generator, localityMethods);
  });

  it('a generator that was attached ends alone', async () => {
    const { clock, generator } = await flakeOnLease();
    const [one, two] = [1, 2].map(() => FlakeGenerator.attach(generator.share(), { clock }));
    await one!.close();
    await expectClosed(one!, flakeMethods);
    expect(two!.next()).toBeLessThan(generator.next());
  });

  it('a generator with a fixed node ends alone, and others of the node go on without a repetition', async () => {
    const [one, two] = [1, 2].map(() => new FlakeGenerator({ node: 77 }));
    const ids = [one!.next(), two!.next(), one!.next()];
    await one!.close();
    await expectClosed(one!, flakeMethods);
    ids.push(two!.next());
    expect(new Set(ids).size).toBe(4);
  });

  it('a locality generator throws ClosedError, with any node, and its lease stays', async () => {
    const { store, held, generator } = await localityOnLease();
    const last = generator.nextUuid().timestamp!.getTime();
    await generator.close();
    await generator[Symbol.asyncDispose]();
    await expectClosed(generator, localityMethods);
    expect(held.state).toBe('active');
    await held.release();
    expect((await store.listLeases('test'))[0]).toMatchObject({ owner: null, fence: last + 1 });

    const [plain, other] = [new LocalityGenerator(), new LocalityGenerator()];
    plain.next();
    const attached = LocalityGenerator.attach(other.share());
    await Promise.all([plain.close(), other.close()]);
    await expectClosed(plain, localityMethods);
    await expectClosed(other, localityMethods);
    attached.next();
  });

  it('a generator of UUIDs of version 7 leaves the fence above its last id', async () => {
    const { time, store, lease } = setUp();
    const held = await lease();
    const generator = new Uuid7Generator({ node: held, clock: time.clock() });
    const last = Number.parseInt(generator.batch(500).at(-1)!.replace('-', '').slice(0, 12), 16);
    await generator.close();
    expect(() => generator.next()).toThrow(closed);
    await held.release();
    expect((await store.listLeases('test'))[0]).toMatchObject({ owner: null, fence: last + 1 });
  });

  it('whoever waits for a window gets ClosedError at once', async () => {
    const { time, state, generator } = await flakeOnLease();
    state.down = true;
    await time.advance(TTL + 1);
    expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
    const waits = [generator.nextAsync(), generator.ready(), generator.ready({ timeout: TTL })];
    const { signal } = new AbortController();
    waits.push(generator.nextAsync({ signal }), generator.ready({ signal }));
    await generator.close();
    for (const wait of waits) await expect(wait).rejects.toThrow(closed);
  });

  it('whoever waits for the lease gets ClosedError when it is released', async () => {
    const { time, state, held, generator } = await flakeOnLease();
    state.down = true;
    await time.advance(TTL + 1);
    const waits = [generator.nextAsync(), generator.ready(), held.whenActive()];
    const release = held.release();
    for (const wait of waits) await expect(meanwhile(time, wait as Promise<unknown>)).rejects.toThrow(closed);
    await release.catch(() => undefined);
  });

  it('a clock that closes the generator it is read for gets no id from it', async () => {
    const { lease } = setUp();
    const node = await lease();
    let generator: FlakeGenerator | undefined;
    const clock = {
      now() {
        void generator?.close();
        return node.from;
      },
    };
    const made = new FlakeGenerator({ node, clock });
    made.next();
    generator = made;
    expect(() => made.next()).toThrow(closed);
  });
});

describe('a window that has ended', () => {
  it('is LeaseFencedError, because it may come back', async () => {
    const { time, state, generator } = await flakeOnLease();
    state.down = true;
    await time.advance(TTL + 1);
    expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
    state.down = false;
    await time.advance(TTL);
    generator.next();
  });
});
