export {
  createToken,
  listTokens,
  revokeToken,
  type TokenFile,
  type TokenOptions,
  type TokenRecord,
  tokenFileOf,
} from './auth/tokens.js';
export {
  flagOf,
  type LogLevel,
  readSettings,
  SETTINGS,
  type Settings,
  type Sources,
} from './config/settings.js';
export type { Scope } from './http/route.js';
export type { Inspect } from './routes/operations.js';
export { type Parts, type RunningServer, startServer } from './start.js';
export { firstSignal } from './stop.js';
