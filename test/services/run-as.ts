import { readFileSync } from 'node:fs';

/** An account of this machine. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The account a database server has to run as: `preferred` (or `nobody`) when we are root, because
 * PostgreSQL and MariaDB refuse to run as root, and otherwise none, which means ourselves.
 */
export function unprivilegedUser(preferred: string): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of [preferred, 'nobody']) {
    const account = accounts.find((line) => line.startsWith(`${name}:`))?.split(':');
    if (account) return { uid: Number(account[2]), gid: Number(account[3]) };
  }
  throw new Error(`running as root, and there is neither an account "${preferred}" nor "nobody"`);
}
