import { LocalityGenerator, LocalityUuid } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { validate, version } from 'uuid';
import { describe, expect, it } from 'vitest';
import { repeated } from '../support/unique.ts';

const node = { processId: 12618, mac: Uint8Array.of(2, 66, 0xfd, 0x53, 0xfa, 0x50) };

describe('the RFC 9562 flavour', () => {
  it('has the fields of version b with version 8 and the standard variant', () => {
    const make = (flavour: 'locality' | 'rfc9562') =>
      new LocalityGenerator({ flavour, node, clock: new FakeClock(1350327498450), counter: 106928579 });
    expect(make('locality').next()).toBe('87654321-314a-bd53-fa50-013a65ca76d2');
    expect(make('rfc9562').next()).toBe('87654321-314a-8d53-ba50-013a65ca76d2');
    expect(make('rfc9562').nextUuid().toString()).toBe(make('rfc9562').next());
    expect(make('locality').nextUuid().toRfc9562().toString()).toBe(make('rfc9562').next());
  });

  it('is what a standard library takes for version 8', () => {
    const ids = new LocalityGenerator({ flavour: 'rfc9562', node: 'random' }).batch(10_000);
    expect(repeated(ids)).toEqual([]);
    for (const id of ids) expect([validate(id), version(id)]).toEqual([true, 8]);
  });

  it('keeps 26 of the 28 MAC bits', () => {
    const all = LocalityUuid.parse('00000000-0000-bfff-ffff-000000000000').toRfc9562();
    expect(all.toString()).toBe('00000000-0000-8fff-bfff-000000000000');
  });

  it('is made of version b only', () => {
    const v4 = LocalityUuid.parse('f47ac10b-58cc-4372-a567-0e02b2c3d479');
    expect(() => v4.toRfc9562()).toThrow(expect.objectContaining({ code: 'INVALID_ID' }));
  });
});
