import type { Problem } from './types.js';

/** The server has answered, and the answer is no. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor({ status, code, detail }: Problem) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** There was no answer. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super('the server does not answer', { cause });
  }
}

/** What to tell people of an error. */
export function sentenceOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? '' : '.'}`;
}
