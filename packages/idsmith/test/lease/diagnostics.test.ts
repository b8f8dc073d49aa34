import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { hostname } from 'node:os';
import { pid } from 'node:process';
import { StoreError } from 'idsmith';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ONE_RENEWAL, setUp, TTL } from './set-up.ts';

interface Message {
  readonly event: string;
  readonly [detail: string]: unknown;
}

let messages: Message[];
const listen = (message: unknown) => messages.push(message as Message);
beforeEach(() => {
  messages = [];
  subscribe('idsmith:lease', listen);
});
afterEach(() => unsubscribe('idsmith:lease', listen));

describe('the channel idsmith:lease', () => {
  it('tells a whole life: acquired, renewed, failed, fenced, replaced and released', async () => {
    const { time, state, lease } = setUp();
    const held = await lease({ label: 'host 1' });
    const common = { namespace: 'test', id: 0, term: 1, label: 'host 1' };
    expect(messages).toEqual([{ event: 'acquired', ...common, until: time.now + TTL }]);
    await time.advance(ONE_RENEWAL);
    expect(messages.slice(1)).toEqual([
      { event: 'empty-namespace', ...common, until: expect.any(Number) },
      { event: 'renewed', ...common, until: held.until },
    ]);
    state.down = true;
    messages = [];
    await time.advance(2 * TTL);
    expect(messages.find(({ event }) => event === 'renewal-failed')).toEqual({
      event: 'renewal-failed',
      ...common,
      until: held.until,
      error: expect.any(StoreError),
    });
    expect(messages.filter(({ event }) => event === 'fenced')).toHaveLength(1);
    state.down = false;
    held.fence();
    messages = [];
    await time.advance(TTL / 10);
    expect(messages).toMatchObject([
      { event: 'reacquired', id: held.id, term: held.term, until: held.until },
    ]);
    await held.release();
    expect(messages.at(-1)).toMatchObject({ event: 'released', id: held.id });
  });

  it('tells every event that listeners hear, in the same order', async () => {
    const { time, state, lease } = setUp();
    const held = await lease();
    const heard: string[] = [];
    const names = [
      'empty-namespace',
      'renewed',
      'renewal-failed',
      'fenced',
      'reacquired',
      'released',
    ] as const;
    for (const name of names) held.on(name, () => heard.push(name));
    await time.advance(TTL);
    state.down = true;
    await time.advance(2 * TTL);
    state.down = false;
    await time.advance(TTL);
    held.fence();
    await time.advance(TTL);
    await held.release();
    expect(messages.map(({ event }) => event)).toEqual(['acquired', ...heard]);
    expect(new Set(heard)).toEqual(new Set(names));
  });

  it('never tells the name of an owner', async () => {
    const { time, store, inner, lease } = setUp();
    const owners = new Set<string>();
    store.swapLease = async (...args) => {
      if (args[2].owner !== null) owners.add(args[2].owner);
      return inner.swapLease(...args);
    };
    const held = await lease();
    await time.advance(3 * TTL);
    held.fence();
    await time.advance(TTL);
    await held.release();
    expect(owners.size).toBeGreaterThan(5);
    const told = JSON.stringify(messages);
    for (const owner of owners) expect(told).not.toContain(owner);
  });
});

describe('the label of a lease', () => {
  it('is host and process id unless one is given, and may be empty', async () => {
    const { store, lease } = setUp();
    await lease();
    await lease({ label: 'mine' });
    await lease({ label: '' });
    const labels = (await store.listLeases('test')).map(({ label }) => label);
    expect(labels).toEqual([`${hostname()} ${pid}`, 'mine', '']);
    expect(messages.filter(({ event }) => event === 'acquired').map(({ label }) => label)).toEqual([
      `${hostname()} ${pid}`,
      'mine',
      undefined,
    ]);
  });
});
