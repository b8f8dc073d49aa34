// One of the processes of a run. It takes leases and blocks, mints, and writes every id and every call into its files before it goes
// on. It ends on order, and when the process that started it is gone.

import { openSync, writeSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ShardMap } from '@idsmith/shard';
import type { Store } from 'idsmith';
import { muteSqliteWarning } from 'idsmith/internal/cli';
import { memoryStore } from 'idsmith/stores/memory';
import { AnswerLimit } from '../history/answer-limit.js';
import { callLines, recorded } from '../history/call-log.js';
import { recordBytes } from '../history/id-records.js';
import { openTarget } from '../target.js';
import { LeaseCopies } from './lease-copies.js';
import { type MintingContext, MintingLoop } from './minting.js';
import { type RequestFaultState, withRequestFaults } from './request-faults.js';
import type { Message, Order, Task, WorkerFiles } from './task.js';

/** The longest wait for connections to close, on which nothing may come any more, ms. */
const CLOSE_MS = 4000;
/** The pause between two tries to open a store that asks its server at once, ms. */
const OPEN_PAUSE = 200;

const fault: RequestFaultState = { fault: 'none', delay: 0 };
const ending = new AbortController();
let offset = 0;
let copies: LeaseCopies | undefined;
/** Lets a copy begin, which has waited for the memory of its original. */
let begin = () => {};

muteSqliteWarning();
// The parent is gone: nobody reads what comes now.
process.on('disconnect', () => process.exit(1));
// Ctrl-C at a terminal reaches every process of the command. The parent decides when this one ends.
process.on('SIGINT', () => {});
process.on('message', (order: Order) => {
  if ('task' in order) void work(order.task, order.files);
  else if ('offset' in order) offset = order.offset;
  else if ('fault' in order) Object.assign(fault, order.fault);
  else if ('copy' in order) tell({ copied: copies?.copy(order.copy.isTold) ?? null });
  else if ('goOnWith' in order) {
    copies?.inherit(order.goOnWith);
    begin();
  } else {
    ending.abort();
    begin();
  }
});

function tell(message: Message): void {
  process.send?.(message, () => {});
}

async function work(task: Task, files: WorkerFiles): Promise<void> {
  const ids = openSync(files.ids, 'a');
  const calls = openSync(files.calls, 'a');
  try {
    const { store, map, close } = await openSource(task);
    const limit = new AnswerLimit(task.timeout, { onUnanswered: (unexpected) => tell({ unexpected }) });
    const limited = limit.on(store);
    const logged = task.logsCalls
      ? recorded(
          limited,
          callLines((line) => writeSync(calls, line)),
        )
      : limited;
    copies = new LeaseCopies(withRequestFaults(logged, fault), ending.signal);
    const context: MintingContext = {
      task,
      store: copies.store,
      map,
      copies,
      signal: ending.signal,
      now: () => Date.now() + task.offset + offset,
      write: (...record) => void writeSync(ids, recordBytes(...record)),
      tell,
    };
    tell({ event: 'ready' });
    if (task.isCopy)
      await new Promise<void>((resolve) => {
        begin = resolve;
        if (ending.signal.aborted) resolve();
      });
    const members = Array.from({ length: task.members ?? 1 }, (_, i) => i);
    await Promise.all(
      members.flatMap((i) => task.families.map((family) => new MintingLoop(context, family, i).run())),
    );
    // A planted loop may be over long before the end.
    while (!ending.signal.aborted) await sleep(20);
    await Promise.race([close(), sleep(CLOSE_MS)]).catch(() => {});
    process.exit(0);
  } catch (error) {
    console.error(error);
    const text = error instanceof Error ? error.message : String(error);
    process.send?.({ unexpected: text } satisfies Message, () => process.exit(1));
  }
}

interface Source {
  readonly store: Store;
  readonly map: ShardMap | undefined;
  close(): Promise<void>;
}

/** Opens the store, or the nodes of sharded keys. Tries again while the store is out of reach. */
async function openSource({ target }: Task): Promise<Source> {
  if ('shards' in target) {
    const { ShardMap } = await import('@idsmith/shard');
    const map = new ShardMap(target.shards);
    // No family on these nodes asks the store.
    return { store: memoryStore(), map, close: () => map.close() };
  }
  for (;;) {
    try {
      const store = await openTarget(target);
      return { store, map: undefined, close: () => store.close() };
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'STORE' || ending.signal.aborted) throw error;
      tell({ event: 'open-failed' });
      await sleep(OPEN_PAUSE);
    }
  }
}
