import type { Family } from './families.js';
import type { RequestTrouble } from './request-faults.js';
import type { Target } from './target.js';

/** What a process of a run is told at its start. */
export interface Task {
  readonly target: Target;
  readonly families: readonly Family[];
  /** The namespaces of flakes and locality UUIDs, and the name of the sequence. */
  readonly names: Readonly<Record<Family, string>>;
  readonly lease: {
    readonly size: number;
    readonly ttl: number;
    readonly maxSkew: number;
    readonly label: string;
  };
  /** The difference of its clock from the machine's clock, ms. */
  readonly offset: number;
  /** The file for everything that the process does. */
  readonly file: string;
}

/** What a process of a run is told. */
export type Order =
  | { readonly task: Task }
  | { readonly offset: number }
  | { readonly trouble: RequestTrouble }
  | { readonly end: true };
