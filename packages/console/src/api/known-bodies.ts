/** A body that the server may confirm with status 304 instead of sending it again. */
interface KnownBody {
  readonly etag: string;
  readonly text: string;
}

/** The number of bodies to keep. A page polls one or two addresses at a time. */
const KEPT = 4;

/** The last bodies with an entity tag, by the token and the address of their requests, oldest first. */
const bodies = new Map<string, KnownBody>();

const keyOf = (address: string, token: string) => `${token} ${address}`;

export function knownBody(address: string, token: string): KnownBody | undefined {
  return bodies.get(keyOf(address, token));
}

/** Keeps a body that has an entity tag, in the place of the oldest one. */
export function rememberBody(address: string, token: string, etag: string | null, text: string): void {
  if (etag === null) return;
  bodies.delete(keyOf(address, token));
  bodies.set(keyOf(address, token), { etag, text });
  for (const oldest of [...bodies.keys()].slice(0, -KEPT)) bodies.delete(oldest);
}
