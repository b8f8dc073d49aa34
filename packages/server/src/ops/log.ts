import type { Writable } from 'node:stream';
import { InvalidOptionError } from 'idsmith';
import type { LogLevel } from '../config/settings.js';

/** The log of the server. */
export interface Log {
  info(event: string, fields?: Fields): void;
  /** Logs a possible mistake. Warnings appear at the level `error` and above. */
  warn(event: string, fields?: Fields): void;
  /** Logs an error. Equal errors are logged once a second, with their number. */
  error(event: string, fields?: Fields): void;
  /** Logs an error that the server has no answer to: each time, and with its stack. */
  unexpected(event: string, fields: Fields): void;
  request(fields: Fields): void;
}

type Fields = Readonly<Record<string, unknown>>;

/** Receives the events that the level lets through. */
export type LogSink = (level: 'info' | 'warn' | 'error', event: string, fields: Fields) => void;

const LEVELS: Readonly<Record<LogLevel, number>> = { silent: 0, error: 1, info: 2, requests: 3 };

/** Makes a function that writes lines to standard error. The server goes on if the reader has closed standard error. */
export function lineWriter(stderr: Writable): (line: string) => void {
  return (line) => {
    if (stderr.listenerCount('error') === 0) stderr.on('error', () => {});
    stderr.write(line);
  };
}

/** Makes one JSON object per line. @param write takes a whole line */
export function jsonLines(write: (line: string) => void): LogSink {
  return (level, event, fields) =>
    write(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })}\n`);
}

/** The time in which equal errors are logged once, ms. */
const REPEAT_INTERVAL = 1000;

export function makeLog(level: LogLevel, write: LogSink): Log {
  const sink: LogSink = (...line) => {
    try {
      write(...line);
    } catch {
      // A log that fails does not stop the server. There is no other place to tell it.
    }
  };
  const includes = (needed: LogLevel) => LEVELS[level] >= LEVELS[needed];
  const written = new Map<string, { at: number; suppressed: number }>();

  /** Logs equal errors once per interval, because an error of every request would flood the log. */
  const writeError = (event: string, { error, ...others }: Fields = {}) => {
    const fields = { ...others, ...(error !== undefined && errorFields(error)) };
    const { code, path, namespace, node } = fields as Fields;
    const kind = JSON.stringify([event, code, path, namespace, node]);
    const last = written.get(kind);
    const now = performance.now();
    if (last !== undefined && now - last.at < REPEAT_INTERVAL) {
      last.suppressed++;
      return;
    }
    sink('error', event, last?.suppressed ? { ...fields, andBefore: last.suppressed } : fields);
    written.set(kind, { at: now, suppressed: 0 });
  };

  const nothing = () => {};
  return {
    info: includes('info') ? (event, fields = {}) => sink('info', event, fields) : nothing,
    warn: includes('error') ? (event, fields = {}) => sink('warn', event, fields) : nothing,
    error: includes('error') ? writeError : nothing,
    unexpected: includes('error')
      ? (event, { error, ...fields }) => sink('error', event, { ...fields, ...unexpectedFields(error) })
      : nothing,
    request: includes('requests') ? (fields) => sink('info', 'request', fields) : nothing,
  };
}

/** The fields of an error that may be logged. The cause is left out, because drivers put passwords into it. */
function errorFields(error: unknown): Fields {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return typeof code === 'string' && typeof message === 'string'
    ? { code, message }
    : unexpectedFields(error);
}

function unexpectedFields(error: unknown): Fields {
  try {
    const { code, message, stack } = (error ?? {}) as { code?: unknown; message?: unknown; stack?: unknown };
    return { ...(typeof code === 'string' && { code }), message: String(message ?? error), stack };
  } catch {
    return { message: `something that cannot be shown was thrown: ${typeof error}` };
  }
}

/** A logger in the shape of pino: each level is a method that takes fields and a message. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Makes a logger whose lines carry these fields, too. */
  child(fields: Record<string, unknown>): Logger;
}

const METHODS: readonly (keyof Logger)[] = ['info', 'warn', 'error', 'child'];

/** The field that tells the lines of this server from the other lines of its program. */
const OWN_FIELDS = { component: 'idsmith' };

/**
 * Passes events on to a logger.
 *
 * @throws InvalidOptionError naming the method that the logger, or its child, does not have
 */
export function loggerSink(logger: Logger): LogSink {
  requireMethods('logger', logger);
  const own = logger.child(OWN_FIELDS);
  requireMethods('the result of logger.child()', own);
  // The error of a driver is no field, only its code and message are: serializers of loggers also print causes, with passwords.
  return (level, event, fields) => own[level](fields, event);
}

function requireMethods(what: string, logger: unknown): void {
  for (const method of METHODS)
    if (typeof (logger as Partial<Logger> | null)?.[method] !== 'function')
      throw new InvalidOptionError(
        `${what} must be a logger like that of pino, with the methods ${METHODS.join(', ')}; ${method} is missing`,
      );
}
