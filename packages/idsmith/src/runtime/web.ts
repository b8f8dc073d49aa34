// For browsers, edge workers and other runtimes without Node's built-ins.

import type { MachineFacts, SharedProcess } from './machine.js';

/** Nothing: these runtimes have no process id and no MAC address, so generators take a random node. */
export function machineFacts(): MachineFacts | undefined {
  return undefined;
}

/** Always 0: these runtimes have no process ids. */
export function processId(): number {
  return 0;
}

/** Nothing: workers share no memory unless a page gives it to them. */
export function sharedProcess(): SharedProcess | undefined {
  return undefined;
}

const TICKS = Symbol.for('idsmith.ticks');
/** Space for 1,024 fixed nodes. */
const TICKS_BYTES = 24_576;

/** The memory in which all copies of this module in a page or worker claim ticks of fixed nodes. */
export function processTicks(): ArrayBufferLike {
  const realm = globalThis as { [TICKS]?: ArrayBufferLike };
  realm[TICKS] ??=
    typeof SharedArrayBuffer === 'undefined'
      ? new ArrayBuffer(TICKS_BYTES)
      : new SharedArrayBuffer(TICKS_BYTES);
  return realm[TICKS];
}

/** Nothing: these runtimes tell neither the host nor the process. */
export function processLabel(): string {
  return '';
}

const decoder = new TextDecoder();

/** ASCII bytes as one flat string. */
export function asciiText(bytes: Uint8Array, length: number): string {
  return decoder.decode(bytes.subarray(0, length));
}

/** Warns the operator, not the caller. */
export function warn(message: string, code: string): void {
  console.warn(`idsmith: ${message} (${code})`);
}

/** The platform that starts copies of this container, if one is known. */
export function copyingPlatform(): string | undefined {
  return undefined;
}
