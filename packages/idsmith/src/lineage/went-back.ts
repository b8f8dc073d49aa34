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
}

/** Reports on the channel `idsmith:store` that the store has lost acknowledged writes, and gives the error for it. */
export function wentBack({ message, ...details }: WentBack): StoreWentBackError {
  report('idsmith:store', () => ({ event: 'went-back', ...details, message }));
  return new StoreWentBackError(message);
}
