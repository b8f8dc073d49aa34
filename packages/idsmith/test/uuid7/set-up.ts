import type { RandomSource, Uuid7Generator } from 'idsmith';

/** A random source that always gives the same byte. */
export const always = (byte: number): RandomSource => ({ fill: (target) => void target.fill(byte) });

/** The time in an id, ms. */
export const timeOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** The 74 random bits of an id as one number. */
export function randomPart(id: string): bigint {
  const hex = id.replaceAll('-', '');
  const a = BigInt(`0x${hex.slice(13, 16)}`);
  const b = BigInt.asUintN(62, BigInt(`0x${hex.slice(16)}`));
  return (a << 62n) | b;
}

export type Call = 'next' | 'batch' | 'fill';

/** `count` ids by one of the three methods, as text. */
export function mint(generator: Uuid7Generator, how: Call, count: number): string[] {
  if (how === 'next') return Array.from({ length: count }, () => generator.next());
  if (how === 'batch') return generator.batch(count);
  const bytes = new Uint8Array(16 * count);
  if (generator.fill(bytes) !== count) throw new Error('fill() has not filled');
  return textsIn(bytes);
}

/** Ids of 16 bytes each, as text. */
export function textsIn(bytes: Uint8Array): string[] {
  return Array.from({ length: bytes.length / 16 }, (_, i) =>
    Buffer.from(bytes.subarray(16 * i, 16 * i + 16))
      .toString('hex')
      .replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  );
}

/** The places at which an id is not larger than the one before. Empty is what every test wants. */
export function notIncreasing(ids: readonly string[]): number[] {
  return ids.flatMap((id, i) => (i > 0 && id <= (ids[i - 1] as string) ? [i] : []));
}
