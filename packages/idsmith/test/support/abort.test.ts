import { FakeTime } from 'idsmith/testing';
import { describe, expect, it, vi } from 'vitest';
import { onAbort, pauseUnlessAborted, unlessAborted } from '../../src/support/abort.ts';

const reason = new Error('no longer needed');

describe('a signal that was aborted before', () => {
  const signal = AbortSignal.abort(reason);

  it('is told at once, and once', () => {
    const listener = vi.fn();
    onAbort(signal, listener)();
    expect(listener.mock.calls).toEqual([[reason]]);
  });

  it('ends a wait for a promise that never settles', async () => {
    await expect(unlessAborted(new Promise(() => {}), signal)).rejects.toBe(reason);
  });

  it('ends a pause, and cancels its timer', async () => {
    const time = new FakeTime();
    const cancel = vi.fn();
    const timer = { after: () => cancel };
    await expect(pauseUnlessAborted(timer, 1000, false, signal)).rejects.toBe(reason);
    expect(cancel).toHaveBeenCalledOnce();
    await expect(pauseUnlessAborted(time, 1000, true, signal)).rejects.toBe(reason);
  });
});

describe('a signal that is aborted later', () => {
  it('ends a pause, and nothing after it was cancelled', async () => {
    const controller = new AbortController();
    const listener = vi.fn();
    onAbort(controller.signal, listener)();
    const pause = pauseUnlessAborted(new FakeTime(), 1000, false, controller.signal);
    controller.abort(reason);
    await expect(pause).rejects.toBe(reason);
    expect(listener).not.toHaveBeenCalled();
  });

  it('changes nothing for a pause that is over, nor for a promise that has settled', async () => {
    const time = new FakeTime();
    const { signal } = new AbortController();
    const pause = pauseUnlessAborted(time, 1000, false, signal);
    await time.advance(1000);
    await expect(pause).resolves.toBeUndefined();
    await expect(unlessAborted(Promise.resolve(7), signal)).resolves.toBe(7);
  });
});
