import process from 'node:process';
import type { LogLevel } from '../config/settings.js';

/** The log of the server: one JSON object per line. */
export interface Log {
  info(event: string, fields?: Fields): void;
  /** Logs a possible mistake. Warnings appear at the level `error` and above. */
  warn(event: string, fields?: Fields): void;
  error(event: string, fields?: Fields): void;
  request(fields: Fields): void;
}

type Fields = Readonly<Record<string, unknown>>;

const LEVELS: Readonly<Record<LogLevel, number>> = { silent: 0, error: 1, info: 2, requests: 3 };

/** Writes to standard error. The server goes on if the reader has closed standard error. */
export function writeToStderr(line: string): void {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {});
  process.stderr.write(line);
}

/** The time in which equal errors are logged once, ms. */
const REPEAT_INTERVAL = 1000;

/** @param write takes a whole line */
export function makeLog(level: LogLevel, write: (line: string) => void): Log {
  const includes = (needed: LogLevel) => LEVELS[level] >= LEVELS[needed];
  const writeEvent = (kind: string, event: string, fields: Fields) =>
    write(`${JSON.stringify({ time: new Date().toISOString(), level: kind, event, ...fields })}\n`);
  const written = new Map<string, { at: number; suppressed: number }>();

  /** Logs equal errors once per interval, because an error of every request would flood the log. */
  const writeError = (event: string, { error, ...others }: Fields = {}) => {
    const fields = { ...others, ...(error !== undefined && errorFields(error)) };
    const { code, path, namespace } = fields as Fields;
    const kind = JSON.stringify([event, code, path, namespace]);
    const last = written.get(kind);
    const now = performance.now();
    if (last !== undefined && now - last.at < REPEAT_INTERVAL) {
      last.suppressed++;
      return;
    }
    writeEvent('error', event, last?.suppressed ? { ...fields, andBefore: last.suppressed } : fields);
    written.set(kind, { at: now, suppressed: 0 });
  };

  const nothing = () => {};
  return {
    info: includes('info') ? (event, fields = {}) => writeEvent('info', event, fields) : nothing,
    warn: includes('error') ? (event, fields = {}) => writeEvent('warn', event, fields) : nothing,
    error: includes('error') ? writeError : nothing,
    request: includes('requests') ? (fields) => writeEvent('info', 'request', fields) : nothing,
  };
}

/** The fields of an error that may be logged. The cause is left out, because drivers put passwords into it. */
function errorFields(error: unknown): Fields {
  const { code, message, stack } = (error ?? {}) as { code?: unknown; message?: unknown; stack?: unknown };
  const isExpected = typeof code === 'string' && typeof message === 'string';
  return isExpected ? { code, message } : { message: String(message ?? error), stack };
}
