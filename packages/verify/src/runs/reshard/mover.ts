// Reshards once, as a process of its own that can be killed. Prints the report.

import process from 'node:process';
import { reshard, ShardMap } from '@idsmith/shard';

const { from, to, options } = JSON.parse(process.argv[2] as string);
const maps = [new ShardMap(from), new ShardMap(to)] as const;
process.send?.('started');
let isTold = false;
const onProgress = () => {
  if (!isTold) process.send?.('moving');
  isTold = true;
};
const report = await reshard(...maps, { ...options, onProgress });
await Promise.all(maps.map((map) => map.close()));
process.stdout.write(JSON.stringify(report));
process.disconnect?.();
