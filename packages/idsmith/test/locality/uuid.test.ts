import { inspect } from 'node:util';
import fc from 'fast-check';
import { InvalidIdError, LocalityGenerator, LocalityUuid } from 'idsmith';
import { describe, expect, it } from 'vitest';

const TEXT = '20be0ffc-314a-bd53-7a50-013a65ca76d2';
const uuid = LocalityUuid.parse(TEXT);

describe('a LocalityUuid', () => {
  it('is minted by the default generator', () => {
    const before = Date.now();
    const minted = new LocalityUuid();
    expect(minted.version).toBe('b');
    expect(minted.processId).toBe(new LocalityGenerator().node.processId);
    expect(minted.timestamp?.getTime()).toBeGreaterThanOrEqual(before);
    expect(minted.equals(new LocalityUuid())).toBe(false);
  });

  it('follows the mode of the default generator', () => {
    const counter = (id: LocalityUuid) => Number.parseInt(id.toString().slice(0, 8), 16);
    LocalityUuid.useSequentialIds();
    const [a, b] = [new LocalityUuid(), new LocalityUuid()];
    LocalityUuid.useVariableIds();
    const [c, d] = [new LocalityUuid(), new LocalityUuid()];
    expect(counter(b)).toBe((counter(a) + 1) % 2 ** 32);
    expect(c.toString().charAt(0)).not.toBe(d.toString().charAt(0));
  });

  it('equals another of the same bytes and nothing else', () => {
    expect(uuid.equals(LocalityUuid.parse(TEXT.toUpperCase()))).toBe(true);
    expect(uuid.equals(uuid)).toBe(true);
    for (const other of [TEXT, null, undefined, uuid.toBytes(), {}, LocalityUuid.fromBits(1n, 2n)]) {
      expect(uuid.equals(other)).toBe(false);
    }
  });

  it('is text wherever text is wanted', () => {
    expect(`${uuid}`).toBe(TEXT);
    expect(JSON.stringify({ id: uuid })).toBe(`{"id":"${TEXT}"}`);
    expect(inspect(uuid)).toBe(`LocalityUuid(${TEXT})`);
  });

  it('cannot be changed from outside', () => {
    const bytes = uuid.toBytes();
    const copy = LocalityUuid.fromBytes(bytes);
    bytes.fill(0);
    copy.toBytes().fill(0);
    copy.macFragment?.fill(0);
    copy.timestamp?.setTime(0);
    expect(copy.toString()).toBe(TEXT);
    expect(copy.macFragment).toEqual(Uint8Array.of(0, 0, 0x0d, 0x53, 0x7a, 0x50));
    expect(copy.timestamp?.toISOString()).toBe('2012-10-15T18:58:18.450Z');
  });

  it('takes bytes from the middle of a larger buffer', () => {
    const large = Buffer.concat([Buffer.alloc(7), uuid.toBytes(), Buffer.alloc(3)]);
    expect(LocalityUuid.fromBytes(large.subarray(7, 23)).toString()).toBe(TEXT);
  });

  it('round-trips any 16 bytes through text, bytes and halves', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        const value = LocalityUuid.fromBytes(bytes);
        expect(LocalityUuid.parse(value.toString()).toBytes()).toEqual(bytes);
        expect(
          LocalityUuid.fromBits(value.mostSignificantBits, value.leastSignificantBits).equals(value),
        ).toBe(true);
        expect(LocalityUuid.isValid(value.toString())).toBe(true);
      }),
    );
  });
});

describe('timeOf()', () => {
  const STANDARD = uuid.toRfc9562().toString();

  it('reads the time of a locality UUID, of either case', () => {
    expect(LocalityUuid.timeOf(TEXT).toISOString()).toBe('2012-10-15T18:58:18.450Z');
    expect(LocalityUuid.timeOf(TEXT.toUpperCase())).toEqual(uuid.timestamp);
  });

  it('reads the standard form where it is asked for', () => {
    expect(LocalityUuid.timeOf(STANDARD, { format: 'rfc9562' })).toEqual(uuid.timestamp);
    const minted = new LocalityGenerator({ format: 'rfc9562' }).next();
    const age = Date.now() - LocalityUuid.timeOf(minted, { format: 'rfc9562' }).getTime();
    expect(Math.abs(age)).toBeLessThan(60_000);
  });

  it.each([STANDARD, '019b76da-b800-7000-b000-b00000000000', ` ${TEXT}`, 'no', '', 7, null, undefined, uuid])(
    'refuses %s as one of version b, and names the other format',
    (wrong) => {
      expect(() => LocalityUuid.timeOf(wrong as string)).toThrow(InvalidIdError);
      expect(() => LocalityUuid.timeOf(wrong as string)).toThrow(
        "is not a locality UUID of version b; for version 8, say format: 'rfc9562'",
      );
    },
  );

  it('refuses version b and other variants as the standard form, and other options', () => {
    const format = 'rfc9562';
    expect(() => LocalityUuid.timeOf(TEXT, { format })).toThrow(InvalidIdError);
    const otherVariant = `${STANDARD.slice(0, 19)}c${STANDARD.slice(20)}`;
    expect(() => LocalityUuid.timeOf(otherVariant, { format })).toThrow(InvalidIdError);
    expect(() => LocalityUuid.timeOf(TEXT, { format: 'java' as 'rfc9562' })).toThrow('format must be');
    expect(() => LocalityUuid.timeOf(TEXT, { formats: 'locality' } as never)).toThrow(
      'unknown name "formats"',
    );
  });
});
