/** What tells one process on one machine from all others. */
export interface MachineNode {
  /** Only its lowest 16 bits go into an id. */
  readonly processId: number;
  /** Six bytes, of which the last three and a half go into an id. */
  readonly mac: Uint8Array;
}
