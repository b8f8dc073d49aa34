// A cluster of this process and two more, each of which prints an id of its default generator.
import cluster from 'node:cluster';
import { LocalityUuid } from 'idsmith';

console.log(JSON.stringify([String(new LocalityUuid())]));
if (cluster.isPrimary) for (const _ of [1, 2]) cluster.fork();
else cluster.worker.disconnect();
