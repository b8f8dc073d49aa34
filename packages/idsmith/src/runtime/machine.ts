/** The identity of one process on one machine. */
export interface MachineNode {
  /** The process id. Only its lowest 16 bits go into an id. */
  readonly processId: number;
  /** The MAC address, six bytes. The last three and a half go into an id. */
  readonly mac: Uint8Array;
}

/** Facts about this process and machine. */
export interface MachineFacts {
  readonly pid: number;
  /** The first MAC address of a real interface, if there is one. */
  readonly mac: Uint8Array | undefined;
  /** Signs that other processes may have the same process id and MAC address, usually of a container. */
  readonly signs: readonly string[];
}

/** Memory that all threads of a process share. */
export interface ProcessMemory {
  /** The claims on milliseconds. */
  readonly ledger: SharedArrayBuffer;
  /** The identity in eight bytes. Zero means that no thread has decided it yet. */
  readonly identity: SharedArrayBuffer;
}
