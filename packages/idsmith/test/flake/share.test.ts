import { defineLayout, FlakeGenerator } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NOW, named } from './set-up.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('share', () => {
  it('is refused for a layout whose ticks and sequence do not fit one word, and the generator goes on', () => {
    const layout = defineLayout({ epoch: 0, timeBits: 53, nodeBits: 1, sequenceBits: 10 });
    const generator = new FlakeGenerator({ node: 1, layout, clock: new FakeClock(NOW) });
    expect(() => generator.share()).toThrow('timeBits + sequenceBits to be 62 at most, not 63');
    expect(generator.next()).toBeTypeOf('bigint');
  });

  it('is refused in a runtime without shared memory, and the generator goes on', () => {
    const generator = new FlakeGenerator({ node: 1, clock: new FakeClock(NOW) });
    const before = generator.next();
    vi.stubGlobal('SharedArrayBuffer', undefined);
    expect(() => generator.share()).toThrow(named('INVALID_OPTION'));
    expect(generator.next()).toBeGreaterThan(before);
  });
});

describe('attach', () => {
  it.each([undefined, {}, { state: new SharedArrayBuffer(8) }, { state: new ArrayBuffer(56) }])(
    'refuses a handle that is not from share(): %o',
    (handle) => {
      expect(() => FlakeGenerator.attach(handle as never)).toThrow('handle must be a handle from share()');
    },
  );
});
