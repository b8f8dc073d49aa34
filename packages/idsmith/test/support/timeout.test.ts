import { StoreError } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it, vi } from 'vitest';
import { requireTimeout, withTimeout } from '../../src/support/timeout.ts';

describe('a timeout', () => {
  it('gives the result in time, and drops a late one', async () => {
    const time = new FakeTime();
    const onTimeout = vi.fn();
    const late = withTimeout(new Promise(() => {}), 100, { timer: time, onTimeout });
    const inTime = withTimeout(Promise.resolve(7), 100, { timer: time, onTimeout });
    const refused = expect(late).rejects.toThrow('no answer within 100 ms');
    expect(await inTime).toBe(7);
    await time.advance(100);
    await refused;
    expect(onTimeout).toHaveBeenCalledTimes(1);
  });

  it('throws the error that the caller makes', async () => {
    const time = new FakeTime();
    const error = () => new StoreError('the store did not answer');
    const late = withTimeout(new Promise(() => {}), 5, { timer: time, background: true, error });
    const refused = expect(late).rejects.toThrow(StoreError);
    await time.advance(5);
    await refused;
  });

  it.each([0, -1, 1.5, 2 ** 31, Number.NaN, '5', null])('of %s ms is refused', (value) => {
    expect(() => requireTimeout(value, 10)).toThrow('timeout must be a whole number from 1 to 2147483647');
    expect(requireTimeout(undefined, 10)).toBe(10);
  });
});
