import { expect } from 'vitest';
import type { Seen } from './server.ts';

/** The contents of a problem. Expects the response to be a valid one. */
export function problemOf({ status, headers, json }: Seen): { status: number; code: string; detail: string } {
  expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(json).toMatchObject({ type: 'about:blank', status, title: expect.any(String) });
  expect(json.detail.length).toBeGreaterThan(10);
  return { status, code: json.code, detail: json.detail };
}
