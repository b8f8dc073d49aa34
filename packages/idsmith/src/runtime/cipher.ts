/** AES-256 with one key, on blocks of 16 bytes, each by itself. Each call returns memory of its own. */
export interface BlockCipher {
  /** @param blocks a multiple of 16 bytes */
  encrypt(blocks: Uint8Array): Uint8Array;
  decrypt(blocks: Uint8Array): Uint8Array;
}

/** Format-preserving encryption FF1 (NIST SP 800-38G) with one key, on arrays of digits. */
export interface DigitCipher {
  encrypt(digits: number[]): number[];
  decrypt(digits: number[]): number[];
}
