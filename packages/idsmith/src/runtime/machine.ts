/** What tells one process on one machine from all others. */
export interface MachineNode {
  /** Only its lowest 16 bits go into an id. */
  readonly processId: number;
  /** Six bytes, of which the last three and a half go into an id. */
  readonly mac: Uint8Array;
}

/** What can be learnt of this process and machine. */
export interface MachineFacts {
  readonly pid: number;
  /** The first MAC address of a real interface, if there is any. */
  readonly mac: Uint8Array | undefined;
  /** Signs that other processes may have the same process id and MAC address: a container, as a rule. */
  readonly signs: readonly string[];
}

/** Memory that all threads of a process share. */
export interface ProcessMemory {
  /** In which they agree who may use which millisecond. */
  readonly ledger: SharedArrayBuffer;
  /** Eight bytes in which they agree who they are. All zero: nobody has asked yet. */
  readonly identity: SharedArrayBuffer;
}
