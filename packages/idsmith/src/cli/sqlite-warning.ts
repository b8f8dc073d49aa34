import process from 'node:process';

/**
 * Keeps Node 22's remark that `node:sqlite` is experimental off standard error, where a command has its own messages. All other
 * warnings are shown.
 */
export function muteSqliteWarning(): void {
  const emitWarning = process.emitWarning.bind(process) as (...details: unknown[]) => void;
  process.emitWarning = (...details: unknown[]) => {
    const [warning, type] = details;
    if (type === 'ExperimentalWarning' && String(warning).startsWith('SQLite ')) return;
    emitWarning(...details);
  };
}
