// One of the processes of a run. It takes leases and blocks, mints, and writes every call and every id into its file before it goes
// on. It ends on order, and when the process that started it is gone.

import { openSync, writeSync } from 'node:fs';
import process from 'node:process';
import { muteSqliteWarning } from '../sqlite-warning.js';
import { type Line, lineText, recorded } from './history.js';
import { MintingLoops } from './minting.js';
import { type RequestTrouble, troubled } from './request-faults.js';
import { openTarget } from './target.js';
import type { Order, Task } from './task.js';

const trouble: RequestTrouble = { fault: 'none', delay: 0 };
let loops: MintingLoops | undefined;

muteSqliteWarning();
// The parent is gone: nobody reads what comes now.
process.on('disconnect', () => process.exit(1));
// Ctrl-C at a terminal reaches every process of the command. The parent decides when this one ends.
process.on('SIGINT', () => {});
process.on('message', (order: Order) => {
  if ('task' in order) void work(order.task);
  else if ('offset' in order) loops?.setOffset(order.offset);
  else if ('trouble' in order) Object.assign(trouble, order.trouble);
  else loops?.end();
});

async function work(task: Task): Promise<void> {
  const file = openSync(task.file, 'a');
  const write = (line: Line) => void writeSync(file, lineText(line));
  let count = 0;
  try {
    const opened = await openTarget(task.target);
    const store = recorded(opened, (begun) => {
      const call = count++;
      write({ call, ...begun });
      return (outcome) => write({ end: call, ...outcome });
    });
    loops = new MintingLoops(troubled(store, trouble), task, write);
    write({ ready: true });
    await loops.run();
    // A connection on which nothing comes any more must not keep the process.
    await Promise.race([opened.close(), new Promise((late) => setTimeout(late, 2000))]).catch(() => {});
    process.exit(0);
  } catch (error) {
    write({ mishap: error instanceof Error ? error.message : String(error) });
    process.exit(1);
  }
}
