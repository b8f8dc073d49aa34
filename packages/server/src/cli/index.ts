// The commands that this package adds to `idsmith`.

export { commands } from './commands.js';
