import { LocalityGenerator } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { privateLedger } from '../../src/locality/ledger.ts';
import { SharedCounter, sharedLedger } from '../../src/locality/shared-counter.ts';
import { Timeline } from '../../src/locality/timeline.ts';
import { beforeExchange } from '../support/interrupt-atomics.ts';

const TODAY = Date.UTC(2026, 0, 1);

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('a shared counter that a stranger overtakes', () => {
  it('leaves the millisecond to the stranger', () => {
    const ledger = sharedLedger(privateLedger());
    const timeline = new Timeline(ledger, 1e9);
    const memory = SharedCounter.memory(0, timeline.stamp(TODAY, 1));
    const view = new SharedCounter(memory, ledger, timeline.stream);
    const stranger = new Timeline(ledger, 1e9);
    let taken = 0;
    const hasHappened = beforeExchange(1, () => {
      taken = stranger.stamp(TODAY + 1, 1);
    });
    view.take(TODAY + 1, 1, 1);
    expect([hasHappened(), taken]).toEqual([true, TODAY + 1]);
    expect(view.ms).toBe(TODAY + 2);
    expect(stranger.stamp(TODAY + 2, 1)).toBe(TODAY + 3);
  });
});

describe('a runtime without shared memory', () => {
  it('refuses share(), and the generator goes on', () => {
    const generator = new LocalityGenerator({ node: 'random', clock: new FakeClock(TODAY) });
    const before = generator.next();
    vi.stubGlobal('SharedArrayBuffer', undefined);
    expect(() => generator.share()).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
    expect(generator.next()).not.toBe(before);
  });
});
