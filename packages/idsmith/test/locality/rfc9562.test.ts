import { acquireLease, LocalityGenerator, LocalityUuid, memoryStore } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { validate, version } from 'uuid';
import { describe, expect, it } from 'vitest';
import { identityWords } from '../../src/locality/layout.ts';
import { leasedNode } from '../../src/locality/node.ts';
import { repeated } from '../support/unique.ts';

const node = { processId: 12618, mac: Uint8Array.of(2, 66, 0xfd, 0x53, 0xfa, 0x50) };

describe('the RFC 9562 format', () => {
  it('has the fields of version b with version 8 and the standard variant', () => {
    const make = (format: 'locality' | 'rfc9562') =>
      new LocalityGenerator({ format, node, clock: new FakeClock(1350327498450), counter: 106928579 });
    expect(make('locality').next()).toBe('87654321-314a-bd53-fa50-013a65ca76d2');
    expect(make('rfc9562').next()).toBe('87654321-314a-8d53-ba50-013a65ca76d2');
    expect(make('rfc9562').nextUuid().toString()).toBe(make('rfc9562').next());
    expect(make('locality').nextUuid().toRfc9562().toString()).toBe(make('rfc9562').next());
  });

  it('is what a standard library takes for version 8', () => {
    const ids = new LocalityGenerator({ format: 'rfc9562', node: 'random' }).batch(10_000);
    expect(repeated(ids)).toEqual([]);
    for (const id of ids) expect([validate(id), version(id)]).toEqual([true, 8]);
  });

  it('keeps 26 of the 28 MAC bits', () => {
    const all = LocalityUuid.parse('00000000-0000-bfff-ffff-000000000000').toRfc9562();
    expect(all.toString()).toBe('00000000-0000-8fff-bfff-000000000000');
  });

  it('takes leases of as many node ids as its bits can hold', async () => {
    const lease = (size: number) => acquireLease(memoryStore(), { namespace: 'rows', size });
    const large = await lease(2 ** 30 + 1);
    const bind = () => new LocalityGenerator({ format: 'rfc9562', node: large });
    expect(bind).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
    expect(new LocalityGenerator({ node: large }).node.source).toBe('lease');
    expect(new LocalityGenerator({ format: 'rfc9562', node: await lease(2 ** 30) }).next()).toMatch(
      /^.{8}-0000-8000-8000-/,
    );
    expect(new LocalityGenerator({ node: await lease(2 ** 32) }).next()).toMatch(/^.{8}-0000-b000-0000-/);
  });

  it('writes every leased node id that it takes differently', () => {
    const fields = [0, 1, 65_535, 65_536, 2 ** 29, 2 ** 29 + 2 ** 16, 2 ** 30 - 1].map((id) =>
      identityWords(leasedNode(id), 'rfc9562').join(' '),
    );
    expect(repeated(fields)).toEqual([]);
    expect(identityWords(leasedNode(2 ** 30), 'rfc9562')).toEqual(identityWords(leasedNode(0), 'rfc9562'));
  });

  it('is made of version b only', () => {
    const v4 = LocalityUuid.parse('f47ac10b-58cc-4372-a567-0e02b2c3d479');
    expect(() => v4.toRfc9562()).toThrow(expect.objectContaining({ code: 'INVALID_ID' }));
  });
});
