// The parts that other packages, such as `@idsmith/server`, use to add commands to `idsmith`.

export { readArguments, readInteger } from './arguments.js';
export { type Command, type CommandGroup, type Flag, type Given, UsageError } from './command.js';
export { loadConfig } from './load-config.js';
export { table, writeLines } from './output.js';
export { requireSqliteFile } from './sqlite-file.js';
