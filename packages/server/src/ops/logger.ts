import { InvalidOptionError } from 'idsmith';
import type { LogSink } from './log.js';

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
