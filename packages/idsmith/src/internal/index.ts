// Parts of the library, for the other packages of idsmith. Not public: names change without notice, and each of those
// packages asks for exactly this version.

export { base62Pair, FIRST_DIGITS, SECOND_DIGITS, toBase62 } from '../encoding/base62.js';
export { bytesToHex } from '../encoding/hex.js';
export { md5 } from '../encoding/md5.js';
export {
  ClockError,
  ClosedError,
  IdError,
  InvalidIdError,
  InvalidOptionError,
  StoreError,
} from '../errors.js';
export { type KeyParts, MAX_DATE, readKey } from '../inspect/key-codec.js';
export { type NamespaceSummary, summarise } from '../lease/namespace.js';
export { knownNames, refuse, requireChoice, requireInteger, requireKnown, show } from '../options.js';
export { type CommandPart, type ScriptClient, textClient } from '../redis/client.js';
export { redisError, ScriptRunner } from '../redis/script-runner.js';
export { type Supply, supplyOf } from '../sequence/blocks.js';
export { isCounter, requireNoCounter } from '../sequence/name.js';
export { CLOCK, ON_MASTER } from '../stores/redis/scripts.js';
export { onAbort, requireSignal } from '../support/abort.js';
export { report } from '../support/diagnostics.js';
export { Emitter } from '../support/emitter.js';
export { packageError } from '../support/load-package.js';
export { backoff } from '../support/retry.js';
export { shownPath } from '../support/shown-path.js';
export { withTimeout } from '../support/timeout.js';
export { pause, systemTimer } from '../support/timer.js';
