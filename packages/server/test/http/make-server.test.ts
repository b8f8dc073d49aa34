import { executionAsyncResource } from 'node:async_hooks';
import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import { keepTicksFast } from '../../src/http/make-server.ts';

it('keeps an object of nextTick alive, so that no garbage collection frees the hidden class of all', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const nextTick = process.nextTick.bind(process);
  const seen: WeakRef<object>[] = [];
  const watch = (callback: () => void) =>
    nextTick(() => {
      seen.push(new WeakRef(executionAsyncResource()));
      callback();
    });
  const spy = vi.spyOn(process, 'nextTick').mockImplementationOnce(watch as typeof process.nextTick);
  keepTicksFast();
  spy.mockRestore();
  watch(() => {});
  await setImmediate();
  collectGarbage();
  expect(seen.map((each) => each.deref() !== undefined)).toEqual([true, false]);
});
