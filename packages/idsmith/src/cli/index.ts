// For packages that add commands to `idsmith`, such as `@idsmith/server`.

export { type Command, type Flag, type Given, readInteger, UsageError } from './command.js';
export { table, writeLines } from './output.js';
