// libsql has no way to finalise a statement, and SQLite keeps the files of a closed connection open until the last statement is
// finalised. So the garbage collector closes files. A collection takes time, so a few closed connections share one.

/** The most closed connections whose files may still be open. Each has three: the database, the log, and the index of the log. */
const MOST_OPEN = 8;

/** The last statement of each closed connection. It is collected together with the others. The files belong to the process. */
let uncollected: WeakRef<object>[] = [];

/** Has the statements of closed connections collected when there are many. */
export async function collectStatements(last: WeakRef<object>): Promise<void> {
  uncollected = [...uncollected, last].filter((statement) => statement.deref() !== undefined);
  if (uncollected.length < MOST_OPEN) return;
  uncollected = [];
  // A reference that was looked at keeps its statement until the present task is over. Finalisers run in a task of their own.
  await nextTask();
  collectGarbage();
  await nextTask();
}

const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve));

function collectGarbage(): void {
  const { Bun } = globalThis as { Bun?: { gc(isForced: boolean): void } };
  const v8 = process.getBuiltinModule?.('node:v8');
  const vm = process.getBuiltinModule?.('node:vm');
  if (Bun !== undefined) Bun.gc(true);
  else if (v8 !== undefined && vm !== undefined) {
    // A context that is made with this flag has a function that collects the garbage of the whole process.
    v8.setFlagsFromString('--expose-gc');
    const collect = vm.runInNewContext('gc') as () => void;
    v8.setFlagsFromString('--no-expose-gc');
    collect();
  }
}
