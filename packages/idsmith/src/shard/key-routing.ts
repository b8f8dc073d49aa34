/**
 * Mints keys and hands out clients in place of a map while its keys are moved.
 *
 * @internal
 */
export interface KeyRouting {
  getClient(key: string): unknown;
  mint(type: number, count: number, signal: AbortSignal | undefined): Promise<string[]>;
}
