import { LocalityGenerator, LocalityUuid } from 'idsmith';
import { describe, expect, it } from 'vitest';

// The examples in the document of the Java library, as its readers see them.

const node = { processId: 0x7a7f, mac: Uint8Array.of(0, 0, 0x0d, 0x53, 0x7a, 0x50) };
const clockAt = (ms: number) => ({ now: () => ms });

describe("the examples of the Java library's document", () => {
  it('are ids of the default counter mode', () => {
    const counter = 0x9dec9c8c - 198_491_317;
    const clock = clockAt(0x013e4e2afbde);
    expect(new LocalityGenerator({ reversal: 'java', node, counter, clock }).batch(8)).toEqual([
      'c8c9cef9-7a7f-bd53-7a50-013e4e2afbde',
      '14951cfa-7a7f-bd53-7a50-013e4e2afbde',
      '6f5169fb-7a7f-bd53-7a50-013e4e2afbde',
      'ba2da6fc-7a7f-bd53-7a50-013e4e2afbde',
      '06f8f3fc-7a7f-bd53-7a50-013e4e2afbde',
      '51c441fd-7a7f-bd53-7a50-013e4e2afbde',
      'ac809efe-7a7f-bd53-7a50-013e4e2afbde',
      'f75cdbff-7a7f-bd53-7a50-013e4e2afbde',
    ]);
  });

  it('are ids of the sequential mode, from the second one on', () => {
    const ids = new LocalityGenerator({ mode: 'sequential', node, clock: clockAt(0x013e4e2afc26) }).batch(9);
    expect(ids.slice(1)).toEqual(
      ['77', '78', '79', '7a', '7b', '7c', '7d', '7e'].map(
        (end) => `f51667${end}-7a7f-bd53-7a50-013e4e2afc26`,
      ),
    );
  });

  it('are the fields of an id', () => {
    const id = LocalityUuid.parse('20be0ffc-314a-bd53-7a50-013a65ca76d2');
    expect([id.version, id.processId, Number(id.timestamp)]).toEqual(['b', 12_618, 1_350_327_498_450]);
    expect([...(id.macFragment ?? [])]).toEqual([0, 0, 0x0d, 0x53, 0x7a, 0x50]);
  });

  it('are a program that makes an id, shows it and copies it', () => {
    const generated = new LocalityUuid();
    const copy = LocalityUuid.parse(generated.toString());
    expect(generated.equals(copy)).toBe(true);
    expect([generated.toBytes().length, generated.version]).toEqual([16, 'b']);
    expect(LocalityUuid.fromBytes(generated.toBytes()).equals(generated)).toBe(true);
    expect(
      LocalityUuid.fromBits(generated.mostSignificantBits, generated.leastSignificantBits).equals(generated),
    ).toBe(true);
  });
});
