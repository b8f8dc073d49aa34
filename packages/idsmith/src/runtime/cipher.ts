/** AES-256 with one key, on single blocks of 16 bytes. Each call returns memory of its own. */
export interface BlockCipher {
  encrypt(block: Uint8Array): Uint8Array;
  decrypt(block: Uint8Array): Uint8Array;
}

/** Format-preserving encryption FF1 (NIST SP 800-38G) with one key, on arrays of digits. */
export interface DigitCipher {
  encrypt(digits: number[]): number[];
  decrypt(digits: number[]): number[];
}
