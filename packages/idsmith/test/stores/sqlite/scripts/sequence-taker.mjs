// One of several processes on one SQLite file: takes blocks of the sequence `shared`, and writes the first id of each on
// a line of its own as soon as it has it.
import { writeSync } from 'node:fs';
import { openStore } from '../../../../dist/stores/index.js';

const [file, blocks] = process.argv.slice(2);
const store = await openStore(`sqlite:${file}`);

await store.defineSequence({ name: 'shared', blockSize: 10 }).catch((error) => {
  if (error.code !== 'SEQUENCE_EXISTS') throw error;
});
for (let i = 0; i < Number(blocks); i++) writeSync(1, `${(await store.allocate('shared', 1)).first}\n`);
await store.close();
