export type { Scope } from './route.js';
export type { Inspect } from './routes/operations.js';
export { flagOf, type LogLevel, readSettings, SETTINGS, type Settings, type Sources } from './settings.js';
export { firstSignal } from './shutdown.js';
export { type Parts, type RunningServer, startServer } from './start.js';
export {
  createToken,
  listTokens,
  revokeToken,
  type TokenFile,
  type TokenOptions,
  type TokenRecord,
  tokenFileOf,
} from './tokens.js';
