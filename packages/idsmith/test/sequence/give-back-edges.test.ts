import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Block, StoreError } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SurplusWatch } from '../../src/sequence/surplus.ts';
import { TestSource } from './support/sources.ts';
import { gate, LastSource, supplyAlone } from './support/supply.ts';

const run = (first: bigint, count: number): Block => ({ first, step: 1, count });

describe('a look at the ids at hand', () => {
  it('asks nothing while all of them were needed in the last second', async () => {
    const { supply, source, time, handOut } = supplyAlone(new LastSource());
    await supply.fetch();
    handOut(50);
    await time.advance(1000);
    expect(source.looked).toEqual([]);
    await time.advance(1000);
    expect(source.returned).toEqual([run(71n, 30)]);
  });

  it('asks about the last run, and keeps one id of it if one is needed', async () => {
    const { supply, source, time } = supplyAlone(new LastSource());
    source.allocate = async () => run(1n, 19);
    await supply.fetch();
    source.allocate = async () => run(501n, 30);
    await supply.fetch();
    await time.advance(1000);
    expect(source.looked).toEqual([run(501n, 30)]);
    expect(source.returned).toEqual([run(502n, 29)]);
    expect([supply.left, supply.shift(), supply.shift()]).toEqual([20, run(1n, 19), run(501n, 1)]);
  });

  it('comes again after the next fetch, though the source has failed', async () => {
    const { supply, source, time } = supplyAlone(new LastSource());
    source.last = () => Promise.reject(new StoreError('away'));
    await supply.fetch();
    await time.advance(5000);
    expect(source.looked).toHaveLength(1);
    source.last = async () => true;
    await supply.fetch();
    await time.advance(1000);
    expect(source.returned).toEqual([run(21n, 180)]);
  });

  it('leaves no timer behind at the end', async () => {
    const { supply, timers, cancelled } = supplyAlone(new LastSource());
    await supply.fetch();
    await supply.close(undefined);
    expect(timers).toHaveLength(1);
    expect(cancelled).toEqual(timers);
  });

  it('counts its second from the last start', async () => {
    const time = new FakeTime();
    const { opened, open } = gate();
    let looks = 0;
    const look = () => {
      looks++;
      return opened.then(() => true);
    };
    const watch = new SurplusWatch({ clock: time.clock(), timer: time }, () => 0, look);
    watch.start();
    await time.advance(1000);
    watch.stop();
    watch.start();
    await time.advance(500);
    open();
    await time.advance(500);
    expect(looks).toBe(2);
  });
});

describe('the channel idsmith:sequence', () => {
  const messages: unknown[] = [];
  const listen = (message: unknown) => void messages.push(message);
  beforeEach(() => {
    messages.length = 0;
    subscribe('idsmith:sequence', listen);
  });
  afterEach(() => void unsubscribe('idsmith:sequence', listen));

  it('tells of a source that takes nothing back', async () => {
    const { supply } = supplyAlone({ allocate: async () => run(1n, 5) } as never as TestSource);
    await supply.fetch();
    await supply.close(undefined);
    expect(messages).toEqual([
      { event: 'fetched', name: 'x', blocks: 10, count: 5, duration: 0 },
      { event: 'given-back', name: 'x', first: 1n, count: 5, returned: false },
    ]);
  });

  it('tells of what fails', async () => {
    const { supply, source } = supplyAlone(new TestSource());
    const error = new StoreError('away');
    source.failure = error;
    await expect(supply.fetch()).rejects.toBe(error);
    source.failure = undefined;
    await supply.fetch();
    source.giveBack = () => Promise.reject(error);
    await supply.close(undefined);
    expect(messages).toEqual([
      { event: 'fetch-failed', name: 'x', blocks: 10, error },
      { event: 'fetched', name: 'x', blocks: 10, count: 100, duration: 0 },
      { event: 'give-back-failed', name: 'x', first: 1n, count: 100, error },
    ]);
  });
});
