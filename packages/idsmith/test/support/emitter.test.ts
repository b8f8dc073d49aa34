import { describe, expect, it, vi } from 'vitest';
import { Emitter } from '../../src/support/emitter.ts';

interface Events {
  done: [];
  failed: [error: Error, tries: number];
}

const make = () => new Emitter<Events>(['done', 'failed']);

describe('an emitter', () => {
  it('calls listeners in the order in which they were added, with the details', () => {
    const emitter = make();
    const heard: unknown[] = [];
    const error = new Error('x');
    emitter.on('failed', (...details) => heard.push(['first', ...details]));
    emitter.on('failed', (...details) => heard.push(['second', ...details]));
    emitter.emit('failed', error, 3);
    emitter.emit('done');
    expect(heard).toEqual([
      ['first', error, 3],
      ['second', error, 3],
    ]);
  });

  it('calls a listener added with once() one time, even if the listener emits', () => {
    const emitter = make();
    const listener = vi.fn(() => emitter.emit('done'));
    emitter.once('done', listener);
    emitter.emit('done');
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it('removes the listener that was added last, and only one of two', () => {
    const emitter = make();
    const listener = vi.fn();
    emitter.on('done', listener);
    emitter.once('done', listener);
    emitter.off('done', listener);
    emitter.off('done', () => {});
    emitter.emit('done');
    emitter.emit('done');
    expect(listener).toHaveBeenCalledTimes(2);
  });

  it('goes on while listeners are added and removed', () => {
    const emitter = make();
    const late = vi.fn();
    const removed = vi.fn();
    emitter.on('done', () => {
      emitter.on('done', late);
      emitter.off('done', removed);
    });
    emitter.on('done', removed);
    emitter.emit('done');
    expect([late.mock.calls.length, removed.mock.calls.length]).toEqual([0, 1]);
  });

  it('is not disturbed by a listener that throws: its error surfaces in a microtask', async () => {
    const emitter = make();
    const error = new Error('thrown by a listener');
    const later: (() => void)[] = [];
    const queue = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((fn) => void later.push(fn));
    const other = vi.fn();
    emitter.on('done', () => {
      throw error;
    });
    emitter.on('done', other);
    emitter.emit('done');
    queue.mockRestore();
    expect(other).toHaveBeenCalledTimes(1);
    expect(later).toHaveLength(1);
    expect(later[0]).toThrow(error);
  });

  it('refuses an unknown event, and a listener that is no function', () => {
    const emitter = make();
    expect(() => emitter.on('don' as never, () => {})).toThrow('did you mean "done"?');
    expect(() => emitter.on('constructor' as never, () => {})).toThrow('unknown name "constructor"');
    expect(() => emitter.once('done', 'text' as never)).toThrow('must be a function');
  });
});
