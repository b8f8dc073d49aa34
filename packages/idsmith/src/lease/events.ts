/** The events of a lease, and the details that listeners get. */
export interface LeaseEvents {
  /** The namespace was empty when the lease was acquired: it is new, or its store has lost it. */
  'empty-namespace': [];
  /** A renewal has moved `until` forward. */
  renewed: [];
  /** A renewal or a replacement has failed, with this error. The lease tries again. */
  'renewal-failed': [error: unknown];
  /** The window has ended: no more ids until the lease is renewed or replaced. */
  fenced: [];
  /** A new lease has replaced the lost one, usually with another node id. */
  reacquired: [];
  /** `release()` has ended the lease. */
  released: [];
}

/** The name of an event of a lease. */
export type LeaseEvent = keyof LeaseEvents;

/** All events of a lease. */
export const LEASE_EVENTS: readonly LeaseEvent[] = [
  ...(['empty-namespace', 'renewed', 'renewal-failed', 'fenced', 'reacquired', 'released'] as const),
];
