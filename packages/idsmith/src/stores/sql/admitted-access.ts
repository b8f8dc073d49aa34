import type { SqlAccess } from './access.js';

/** The access to a database whose schema is checked before the first statement. */
export function admittedAccess(
  access: SqlAccess | undefined,
  admit: () => Promise<unknown>,
): SqlAccess | undefined {
  if (access === undefined) return undefined;
  const { outside } = access;
  return {
    outside: {
      ...outside,
      async query(text, values) {
        await admit();
        return outside.query(text, values);
      },
    },
    async transact(work) {
      await admit();
      return access.transact(work);
    },
  };
}
