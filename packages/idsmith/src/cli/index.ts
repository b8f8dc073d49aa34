// The parts that other packages, such as `@idsmith/server`, use to add commands to `idsmith`.

export { type Command, type Flag, type Given, readInteger, UsageError } from './command.js';
export { table, writeLines } from './output.js';
