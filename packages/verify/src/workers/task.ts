import type { LeaseMemory } from 'idsmith/internal/stores';
import type { Family, LeasedFamily } from '../families.js';
import type { Target } from '../target.js';

/** Faults of the requests of a process. */
export const REQUEST_FAULTS = [
  'requests lost',
  'answers lost',
  'requests late',
  'requests repeated',
] as const;
export type RequestFault = (typeof REQUEST_FAULTS)[number];

/** The fault at work, and the delay of a late request. */
export interface RequestFaultState {
  fault: RequestFault | 'none';
  /** Milliseconds. */
  delay: number;
}

/** Defects on purpose, to see that they are found. */
export interface Plant {
  /** Families whose first id is handed out again. */
  readonly repeat?: readonly Family[];
  /** Families that fall silent after a handful. */
  readonly mute?: readonly Family[];
}

/** What a process is told at its start. */
export interface Task {
  /** The number of its first source of ids. */
  readonly number: number;
  readonly target: Target;
  readonly families: readonly Family[];
  /** The namespaces of families with leases, and the name of the sequence. */
  readonly names: Readonly<Record<LeasedFamily | 'sequences', string>>;
  /** True if the process defines a sequence that is missing. Else a missing sequence is an error. */
  readonly definesSequence?: boolean;
  /** The number of sources in the process, each with a clock of its own. Default 1. */
  readonly members?: number;
  readonly lease: { readonly size: number; readonly ttl: number; readonly maxSkew: number };
  /** The difference of its clock from the machine's clock, ms. */
  readonly offset: number;
  /** The pause between two handfuls of a family, ms. */
  readonly pause: number;
  /** The longest wait for an answer of the store, ms. */
  readonly timeout: number;
  /** True if every call of the store is logged. */
  readonly logsCalls?: boolean;
  /** True if the process waits for the memory of another one, and goes on with its lease. */
  readonly isCopy?: boolean;
  readonly plant?: Plant | undefined;
}

/** The files of a process. */
export interface WorkerFiles {
  /** Every id, as records. */
  readonly ids: string;
  /** Every call of the store, as lines. */
  readonly calls: string;
}

/** The lease of a process that is copied. */
export interface CopiedLease extends LeaseMemory {
  readonly family: LeasedFamily;
  /** True if the platform tells both processes of the copy. */
  readonly isTold: boolean;
}

/** What a process is told. */
export type Order =
  | { readonly task: Task; readonly files: WorkerFiles }
  | { readonly offset: number }
  | { readonly fault: RequestFaultState }
  | { readonly copy: { readonly isTold: boolean } }
  | { readonly goOnWith: CopiedLease }
  | { readonly end: true };

/** What a process tells. */
export type Message =
  /** Something of interest, such as `ready`, `acquired` or `refused STORE`. */
  | { readonly event: string }
  /** A family of a source that fails, and why; without a reason, it mints again. */
  | { readonly failing: string; readonly why?: string }
  /** An error that no process should meet. */
  | { readonly unexpected: string }
  /** The answer to the order to be copied: no lease if there is none to copy. */
  | { readonly copied: CopiedLease | null };
