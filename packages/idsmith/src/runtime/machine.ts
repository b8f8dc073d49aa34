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
  /** The reasons why another process may have the same process id and MAC address. Empty if there is none. */
  readonly doubts: readonly string[];
}

/** What all threads of a process share. */
export interface SharedProcess {
  /** The claims on milliseconds. */
  readonly ledger: SharedArrayBuffer;
  /** The node that the threads share. The first call decides it: the machine's own, or what `random` gives where others may have that. */
  node(random: () => MachineNode): MachineNode;
}
