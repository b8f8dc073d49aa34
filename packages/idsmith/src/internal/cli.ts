// Parts of the command line, for the packages that add commands to `idsmith`. Not public: names change without notice, and
// each of those packages asks for exactly this version.

export { ProgressBar } from '../cli/activity.js';
export { readArguments, readCount, readInteger } from '../cli/arguments.js';
export {
  type Command,
  type CommandGroup,
  type Flag,
  type Given,
  Interrupted,
  type Io,
  NegativeVerdict,
  UsageError,
} from '../cli/command.js';
export { utf8Text } from '../cli/input.js';
export { loadConfig } from '../cli/load-config.js';
export { muteSqliteWarning } from '../cli/main.js';
export { idLines, writeLines } from '../cli/output.js';
export {
  refuseMemory,
  requireSqliteFile,
  type StoreUrl,
  similarFile,
  storeFlags,
  storeUrl,
  VERBOSE,
  withoutLogin,
} from '../cli/store.js';
export { count, duration, jsonText, table } from '../cli/text.js';
export { refuseName } from '../options.js';
