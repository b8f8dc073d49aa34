// One of several processes on one SQLite file: takes blocks of the sequence `shared`, and writes the first id of each on
// a line of its own as soon as it has it. With `wait`, it says that it is there and begins when its input ends.
import { writeSync } from 'node:fs';
import { openStore } from '../../../../dist/stores/index.js';

const [file, blocks, wait] = process.argv.slice(2);
if (wait === 'wait') {
  writeSync(1, 'ready\n');
  for await (const _ of process.stdin);
}
const store = await openStore(`sqlite:${file}`);

await store.defineSequence({ name: 'shared', blockSize: 10 }).catch((error) => {
  if (error.code !== 'SEQUENCE_EXISTS') throw error;
});
for (let i = 0; i < Number(blocks); i++) writeSync(1, `${(await store.allocate('shared', 1)).first}\n`);
await store.close();
