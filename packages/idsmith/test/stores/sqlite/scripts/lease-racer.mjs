// One of several processes on one SQLite file: puts what records it can of ids 0 to 9, then counts `rounds` up in the
// epoch of record 10. Prints the ids that it won.
import Libsql from 'libsql';
import { openStore } from '../../../../dist/stores/index.js';
import { sqliteStore } from '../../../../dist/stores/sqlite/index.js';

const [mode, file, owner, rounds] = process.argv.slice(2);
const namespace = 'race';
const store =
  mode === 'with a rollback journal' ? sqliteStore(new Libsql(file)) : await openStore(`sqlite:${file}`);
const record = { id: 0, owner, epoch: 1, fence: 0, expiresAt: 1, label: '' };

const won = [];
for (let id = 0; id < 10; id++) {
  if (await store.swapLease(namespace, undefined, { ...record, id })) won.push(id);
}

await store.swapLease(namespace, undefined, { ...record, id: 10, epoch: 0 });
for (let round = 0; round < Number(rounds); ) {
  const counter = (await store.listLeases(namespace)).find(({ id }) => id === 10);
  if (await store.swapLease(namespace, counter, { ...counter, owner, epoch: counter.epoch + 1 })) round++;
}

await store.close();
console.log(JSON.stringify(won));
