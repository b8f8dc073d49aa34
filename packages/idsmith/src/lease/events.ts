import { report } from '../support/diagnostics.js';
import { Emitter } from '../support/emitter.js';

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
const LEASE_EVENTS: readonly LeaseEvent[] = [
  'empty-namespace',
  'renewed',
  'renewal-failed',
  'fenced',
  'reacquired',
  'released',
];

/** The part of a lease that goes into messages. The owner's name is a secret, and never does. */
interface ReportedLease {
  readonly namespace: string;
  readonly id: number;
  readonly term: number;
  readonly until: number;
}

/** Reports the events of one lease to its listeners, and on the channel `idsmith:lease`. */
export class LeaseEmitter extends Emitter<LeaseEvents> {
  readonly #lease: ReportedLease;
  readonly #label: string;

  constructor(lease: ReportedLease, label: string) {
    super(LEASE_EVENTS);
    this.#lease = lease;
    this.#label = label;
  }

  override emit<Name extends LeaseEvent>(event: Name, ...details: LeaseEvents[Name]): void {
    this.report(event, details[0]);
    super.emit(event, ...details);
  }

  /** Reports an event on the channel alone. */
  report(event: LeaseEvent | 'acquired', error?: unknown): void {
    report('idsmith:lease', () => {
      const { namespace, id, term, until } = this.#lease;
      const label = this.#label;
      return {
        event,
        namespace,
        id,
        term,
        until,
        ...(label && { label }),
        ...(error !== undefined && { error }),
      };
    });
  }
}
