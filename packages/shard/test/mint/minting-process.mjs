// One of many processes that mint on the same nodes: batches of every size and single keys, until its time is over or
// its count is reached. Prints the keys, one a line.

import { ShardMap } from '@idsmith/shard';

const { config, offset, until, most } = JSON.parse(process.argv[2]);

// A clock that is wrong: nothing may depend on it.
const now = Date.now;
Date.now = () => now() + offset;

const map = new ShardMap(config);
const keys = [];
for (let round = 0; keys.length < most && now() < until; round++) {
  await take(map.genKeys('user', [1, 7, 500, 3844][round % 4]));
  await Promise.all(Array.from({ length: 40 }, () => take(map.genKey('group').then((key) => [key]))));
}
await map.close();
process.stdout.write(`${keys.join('\n')}\n`);

/** Takes the keys. A call whose node loses its sequence again and again fails, as it should, and gives none. */
async function take(minted) {
  try {
    keys.push(...(await minted));
  } catch (error) {
    if (error.code !== 'STORE') throw error;
  }
}
