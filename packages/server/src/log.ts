import type { LogLevel } from './settings.js';

/** Where the server tells what happens to it: one JSON object a line. */
export interface Log {
  info(event: string, fields?: Fields): void;
  error(event: string, fields?: Fields): void;
  request(fields: Fields): void;
}

type Fields = Readonly<Record<string, unknown>>;

const LEVELS: Readonly<Record<LogLevel, number>> = { silent: 0, error: 1, info: 2, requests: 3 };

/** @param write takes a whole line */
export function makeLog(level: LogLevel, write: (line: string) => void): Log {
  const least = (needed: LogLevel) => LEVELS[level] >= LEVELS[needed];
  const say = (kind: string, event: string, fields: Fields = {}) => {
    const { error, ...others } = fields;
    const told = error === undefined ? others : { ...others, ...errorFields(error) };
    write(`${JSON.stringify({ time: new Date().toISOString(), level: kind, event, ...told })}\n`);
  };
  const nothing = () => {};
  return {
    info: least('info') ? (event, fields) => say('info', event, fields) : nothing,
    error: least('error') ? (event, fields) => say('error', event, fields) : nothing,
    request: least('requests') ? (fields) => say('info', 'request', fields) : nothing,
  };
}

/** What of an error may be told: never its cause, for drivers put passwords there. */
function errorFields(error: unknown): Fields {
  const { code, message, stack } = (error ?? {}) as { code?: unknown; message?: unknown; stack?: unknown };
  const isForeseen = typeof code === 'string' && typeof message === 'string';
  return isForeseen ? { code, message } : { message: String(message ?? error), stack };
}
