import { type PublicContent, type PublicIdOptions, publicIds } from 'idsmith/public';
import { expect } from 'vitest';

/** 32 bytes, 0 to 31, and 32 others. */
export const SECRET = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
export const OTHER = '2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94';

export const invalid = expect.objectContaining({ code: 'INVALID_ID' });
export const refused = expect.objectContaining({ code: 'INVALID_OPTION' });

/** Public ids of orders with one key, and other options as the test likes. */
export function orders<Of extends PublicContent = 'int64'>(
  options: Partial<PublicIdOptions<'ord', Of>> = {},
) {
  return publicIds({ prefix: 'ord', keys: { 1: SECRET }, ...options });
}
