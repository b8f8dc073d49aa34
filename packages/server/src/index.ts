export {
  createToken,
  listTokens,
  revokeToken,
  type TokenOptions,
  type TokenRecord,
} from './auth/tokens.js';
export { readSettings, type Sources } from './config/read-settings.js';
export type { LogLevel, Settings } from './config/settings.js';
export type { Scope } from './http/route.js';
export type { Logger } from './ops/log.js';
export { type RunningServer, type ServerParts, startServer } from './start.js';
