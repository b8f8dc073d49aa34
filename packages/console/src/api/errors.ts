import type { Problem } from './types.js';

/** A request that the server refused, with the reason it gave. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor({ status, code, detail }: Problem) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** A request without a response. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super('the server is not responding', { cause });
  }
}

/** The message of an error as a sentence: with a capital letter, and a full stop unless it ends with an address to copy. */
export function sentenceOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/([.!?…]|\/\/\S+)$/.test(text) ? '' : '.'}`;
}
