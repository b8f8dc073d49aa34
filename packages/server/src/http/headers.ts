import { REQUEST_ID } from './request-id.js';

/** Headers of API responses: pages of other sites cannot read, embed or frame the response, and nothing caches it. */
export const DATA_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

/** Headers of pages and their files: only scripts and styles of this server run. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...DATA_HEADERS,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

/**
 * Makes the function that gives all headers of a response of this type, as a list. Copying a list and setting two values takes a
 * tenth of the time of extending an object.
 */
export function headersOf(type: string): (requestId: string, length: number) => string[] {
  const constant = type.startsWith('text/html') ? PAGE_HEADERS : DATA_HEADERS;
  const headers = { ...constant, 'content-type': type, [REQUEST_ID]: '', 'content-length': '' };
  const list = Object.entries(headers).flat();
  return (requestId, length) => {
    const copy = list.slice();
    copy[list.length - 3] = requestId;
    copy[list.length - 1] = String(length);
    return copy;
  };
}
