import { errorsIn } from '../../executor/transaction.js';

/** True for an error, or one that an ORM has wrapped, that says that a table is missing. */
export const isMissingTable = (error: unknown): boolean =>
  errorsIn(error).some(
    ({ code, errno, message }) => code === '42P01' || errno === 1146 || /no such table/.test(String(message)),
  );
