import { Buffer } from 'node:buffer';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import process, { emitWarning, env, pid, platform } from 'node:process';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';
import { hexToBytes } from '../encoding/hex.js';
import { containerSigns, platformOf } from './container.js';
import type { MachineFacts, SharedProcess } from './machine.js';
import { doubtsOf, sharedNode } from './process-node.js';

const LEDGER = 'idsmith.ledger';
const IDENTITY = 'idsmith.identity';

// Worker threads inherit environment data when they start. So the memory must exist as soon as the main thread has loaded
// this module. A web worker, which Deno reports as a main thread, inherits no memory and must not make its own.
if (isMainThread && !('WorkerGlobalScope' in globalThis) && getEnvironmentData(LEDGER) === undefined) {
  setEnvironmentData(LEDGER, new SharedArrayBuffer(16) as never);
  setEnvironmentData(IDENTITY, new SharedArrayBuffer(8) as never);
}

/** What all threads of this process share; `undefined` in a worker that has inherited none. */
export function sharedProcess(): SharedProcess | undefined {
  const ledger = getEnvironmentData(LEDGER) as SharedArrayBuffer | undefined;
  const identity = getEnvironmentData(IDENTITY) as SharedArrayBuffer | undefined;
  return ledger && identity && { ledger, node: (random) => sharedNode(identity, machineFacts, random) };
}

const TICKS = 'idsmith.ticks';
/** Space for 4,096 fixed nodes. */
const TICKS_BYTES = 24 * 4096;
const inheritedTicks = getEnvironmentData(TICKS) as SharedArrayBuffer | undefined;
// A thread that has inherited no memory makes it for itself and the threads that it starts.
const ticks = inheritedTicks ?? new SharedArrayBuffer(TICKS_BYTES);
if (!inheritedTicks) setEnvironmentData(TICKS, ticks as never);
let isAlone = !inheritedTicks && (!isMainThread || 'WorkerGlobalScope' in globalThis);

/** The memory in which all threads of this process claim ticks of fixed nodes. */
export function processTicks(): ArrayBufferLike {
  if (isAlone) {
    isAlone = false;
    warn(
      'this worker thread uses a fixed node, and started before the main thread loaded idsmith: another thread with the same node can make the same ids. Import idsmith in the main thread first, use share() and attach(), or lease the node',
      'FIXED_NODE',
    );
  }
  return ticks;
}

/** The process id as it is now: a process that was restored from a snapshot has another one. */
export function processId(): number {
  return process.pid;
}

/** Facts about this process and machine; `undefined` if the runtime does not allow to read them (Deno without `--allow-sys`). */
export function machineFacts(): MachineFacts | undefined {
  try {
    const mac = firstMac(networkInterfaces());
    return { pid, mac, doubts: doubtsOf({ pid, mac, signs: containerSigns(surroundings) }) };
  } catch {
    return undefined;
  }
}

const surroundings = {
  platform,
  env: (name: string) => env[name],
  exists: existsSync,
  read: (path: string) => orNothing(() => readFileSync(path, 'utf8')),
  link: (path: string) => orNothing(() => readlinkSync(path)),
};

function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** The first MAC address of a real interface; `undefined` if the machine has none. */
export function firstMac(interfaces: ReturnType<typeof networkInterfaces>): Uint8Array | undefined {
  for (const addresses of Object.values(interfaces)) {
    for (const { internal, mac } of addresses ?? []) {
      const bytes = hexToBytes(mac.replaceAll(':', ''));
      if (!internal && bytes?.length === 6 && bytes.some((byte) => byte !== 0)) return bytes;
    }
  }
  return undefined;
}

/** Host and process id, for people; the process id alone if the runtime does not tell the host. */
export function processLabel(): string {
  return `${orNothing(hostname) ?? ''} ${pid}`.trim().slice(0, 255);
}

/** ASCII bytes as one flat string. */
export function asciiText(bytes: Uint8Array, length: number): string {
  return Buffer.prototype.latin1Slice.call(bytes, 0, length);
}

/** Warns the operator, not the caller. */
export function warn(message: string, code: string): void {
  emitWarning(message, { type: 'IdsmithWarning', code });
}

/** The platform that starts copies of this container, if one is known: Kubernetes, ECS, Cloud Run, Lambda. */
export function copyingPlatform(): string | undefined {
  return platformOf((name) => env[name]);
}
