import { StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { named, ONE_RENEWAL, setUp, TTL } from './set-up.ts';

describe('listeners of a lease', () => {
  it('added with on() hear every event, and those added with once() the next one', async () => {
    const { time, lease } = setUp();
    const held = await lease();
    const heard: string[] = [];
    held.on('renewed', () => heard.push('on')).once('renewed', () => heard.push('once'));
    await time.advance(TTL);
    expect(heard.slice(0, 3)).toEqual(['on', 'once', 'on']);
    expect(heard.filter((each) => each === 'once')).toHaveLength(1);
  });

  it('removed with off() hear nothing, whichever way they were added', async () => {
    const { time, lease } = setUp();
    const held = await lease();
    const heard: string[] = [];
    const listener = () => heard.push('removed');
    held.on('renewed', listener).once('renewed', listener).once('fenced', listener);
    held.off('renewed', listener).off('renewed', listener).off('fenced', listener);
    held.on('renewed', () => heard.push('kept'));
    await time.advance(ONE_RENEWAL);
    held.fence();
    expect(heard).toEqual(['kept']);
  });

  it('get the error of a renewal that failed, and nothing with other events', async () => {
    const { time, state, lease } = setUp();
    const held = await lease();
    const details: unknown[][] = [];
    held.once('renewal-failed', (...detail) => details.push(detail));
    held.once('fenced', (...detail) => details.push(detail));
    state.down = true;
    await time.advance(2 * TTL);
    expect(details).toEqual([[expect.any(StoreError)], []]);
  });

  it('of an unknown event are refused with the nearest name', async () => {
    const held = await setUp().lease();
    for (const method of ['on', 'once', 'off'] as const) {
      expect(() => held[method]('renewd' as never, () => {})).toThrow('did you mean "renewed"?');
      expect(() => held[method]('renewd' as never, () => {})).toThrow(named('INVALID_OPTION'));
    }
  });
});
