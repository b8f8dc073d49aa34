import { StoreWentBackError } from '../errors.js';
import { report } from '../support/diagnostics.js';

/** A store that went back, for messages and events. */
interface WentBack {
  /** What was found: the sequence or the namespace, and the sign of the loss. */
  readonly message: string;
  /** The name of the sequence, if it is one. */
  readonly sequence?: string;
  /** The namespace, if it is one. */
  readonly namespace?: string;
  /** The number at which the sequence continues. */
  readonly next?: bigint;
  /** The error of the driver, if one tells of the loss. */
  readonly cause?: unknown;
}

/** Reports on the channel `idsmith:store` that the store has lost acknowledged writes, and gives the error for it. */
export function wentBack({ message, cause, ...details }: WentBack): StoreWentBackError {
  report('idsmith:store', () => ({ event: 'went-back', ...details, message }));
  return new StoreWentBackError(message, cause === undefined ? undefined : { cause });
}
