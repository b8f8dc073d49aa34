import type { FamilyName } from './record.ts';
import type { SoakTarget } from './stores.ts';

/** Faults on purpose, to see that they are found. */
export interface Plant {
  /** Families whose first id is handed out again. */
  readonly repeat?: readonly FamilyName[];
  /** Families that fall silent after a handful. */
  readonly mute?: readonly FamilyName[];
}

/** What a process is told at its start. */
export interface WorkerTask {
  /** The number of its first source. */
  readonly number: number;
  readonly target: SoakTarget;
  /** How many sources it has. */
  readonly members: number;
  readonly families: readonly FamilyName[];
  readonly lease: { readonly size: number; readonly ttl: number; readonly maxSkew: number };
  /** How far its clock is off when no fault makes it worse, ms. */
  readonly offset: number;
  readonly plant?: Plant | undefined;
}
