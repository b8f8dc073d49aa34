/** The ids that come more than once, exactly. Empty is what every test wants. */
export function repeated<T extends string | bigint>(ids: Iterable<T>): T[] {
  const seen = new Set<T>();
  const again: T[] = [];
  for (const id of ids) {
    if (seen.has(id)) again.push(id);
    seen.add(id);
  }
  return again;
}

/** 16-byte ids, one after another, as strings that compare as the bytes do. */
export function* idsIn(bytes: Uint8Array): Iterable<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < buffer.length; at += 16) yield buffer.toString('latin1', at, at + 16);
}
