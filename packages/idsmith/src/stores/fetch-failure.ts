/** Errors of a connection that was never made. */
const NEVER_SENT: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT'];

/** The reason of an error of `fetch`, which keeps the reason in its `cause`. */
export function fetchCause(error: unknown): unknown {
  return (error as { cause?: unknown } | undefined)?.cause ?? error;
}

/** Tells whether a request with this {@link fetchCause} certainly did not reach the server. */
export function wasNeverSent(cause: unknown): boolean {
  const { code, syscall } = (cause ?? {}) as { code?: unknown; syscall?: unknown };
  return syscall === 'connect' || NEVER_SENT.includes(code);
}
