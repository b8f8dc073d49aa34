import process from 'node:process';
import type { LogLevel } from '../config/settings.js';

/** Where the server tells what happens to it: one JSON object a line. */
export interface Log {
  info(event: string, fields?: Fields): void;
  /** For what may be wrong, shown where errors are. */
  warn(event: string, fields?: Fields): void;
  error(event: string, fields?: Fields): void;
  request(fields: Fields): void;
}

type Fields = Readonly<Record<string, unknown>>;

const LEVELS: Readonly<Record<LogLevel, number>> = { silent: 0, error: 1, info: 2, requests: 3 };

/** Writes to standard error, and goes on serving when nobody reads it any more. */
export function writeToStderr(line: string): void {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {});
  process.stderr.write(line);
}

/** The same thing is told once in so many ms. */
const INTERVAL = 1000;

/** @param write takes a whole line */
export function makeLog(level: LogLevel, write: (line: string) => void): Log {
  const least = (needed: LogLevel) => LEVELS[level] >= LEVELS[needed];
  const say = (kind: string, event: string, fields: Fields) =>
    write(`${JSON.stringify({ time: new Date().toISOString(), level: kind, event, ...fields })}\n`);
  const told = new Map<string, { at: number; more: number }>();

  /** What goes wrong often, with every request, must not make things worse by being written down each time. */
  const complain = (event: string, { error, ...others }: Fields = {}) => {
    const fields = { ...others, ...(error !== undefined && errorFields(error)) };
    const { code, path, namespace } = fields as Fields;
    const kind = JSON.stringify([event, code, path, namespace]);
    const last = told.get(kind);
    const now = performance.now();
    if (last !== undefined && now - last.at < INTERVAL) {
      last.more++;
      return;
    }
    say('error', event, last?.more ? { ...fields, andBefore: last.more } : fields);
    told.set(kind, { at: now, more: 0 });
  };

  const nothing = () => {};
  return {
    info: least('info') ? (event, fields = {}) => say('info', event, fields) : nothing,
    warn: least('error') ? (event, fields = {}) => say('warn', event, fields) : nothing,
    error: least('error') ? complain : nothing,
    request: least('requests') ? (fields) => say('info', 'request', fields) : nothing,
  };
}

/** What of an error may be told: never its cause, for drivers put passwords there. */
function errorFields(error: unknown): Fields {
  const { code, message, stack } = (error ?? {}) as { code?: unknown; message?: unknown; stack?: unknown };
  const isForeseen = typeof code === 'string' && typeof message === 'string';
  return isForeseen ? { code, message } : { message: String(message ?? error), stack };
}
