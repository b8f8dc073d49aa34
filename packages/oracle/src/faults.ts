/** Errors of Oracle that have a meaning for the store, by their numbers. */
const FAULTS = {
  /** ORA-00001: unique constraint violated. */
  duplicate: [1],
  /** ORA-00942: table or view does not exist. */
  'no table': [942],
  /** ORA-00904: invalid identifier. */
  'no column': [904],
  /** ORA-00955: name is already used; ORA-01430: the column exists. Another process was quicker. */
  done: [955, 1430],
  /** ORA-00054: resource busy; ORA-04021, ORA-30006: the wait for a lock was too long. */
  busy: [54, 4021, 30006],
  /** ORA-01031: insufficient privileges; ORA-01536, ORA-01950: no quota. */
  forbidden: [1031, 1536, 1950],
  /** ORA-00060: deadlock; ORA-08177: cannot serialize. The server has undone the statement. */
  undone: [60, 8177],
} as const;

export type OracleFault = keyof typeof FAULTS;

/** Tells whether an error of the driver is one of these. */
export function isFault(error: unknown, ...faults: readonly OracleFault[]): boolean {
  const { errorNum } = (error ?? {}) as { errorNum?: unknown };
  return faults.some((fault) => (FAULTS[fault] as readonly unknown[]).includes(errorNum));
}
