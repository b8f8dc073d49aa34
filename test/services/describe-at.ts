import { describe } from 'vitest';
import { printOnce } from './describe-with.ts';

/** Servers that only a user can name, each by the variable with its URL. */
const SERVERS = {
  ORACLE_URL: { name: 'Oracle', form: 'oracle://user:password@host:1521/service' },
  MYSQL_URL: { name: 'MySQL', form: 'mysql://user:password@host:3306/database' },
  VALKEY_URL: { name: 'Valkey', form: 'redis://host:6379/0' },
} as const;

/**
 * A `describe` for tests on a server of the user's own. Without its URL the tests are skipped, and one line says how to run them.
 * Where the server is named, nothing is skipped: a server that does not answer is a failure.
 */
export function describeAt(variable: keyof typeof SERVERS, title: string, body: (url: string) => void): void {
  const url = process.env[variable];
  const { name, form } = SERVERS[variable];
  if (url) {
    describe(`${title}, on ${variable}`, () => body(url));
    return;
  }
  printOnce(`${name} tests skipped: no ${variable}. To run them, set ${variable}=${form}`);
  describe.skip(`${title}, on ${variable}`, () => body(''));
}
