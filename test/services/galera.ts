import { programsOf } from './binaries.ts';
import { ServerGroup } from './group.ts';
import { mariadbServer } from './mariadb.ts';
import { withFreePorts } from './ports.ts';
import type { ServerProcess } from './process.ts';

/** The ports of a node: for clients, for the group, and for the data that a node gets when it joins, in part or as a whole. */
const PORTS = 4;

/** A private cluster of MariaDB nodes with Galera. Every node takes reads and writes. */
export class Galera extends ServerGroup<ServerProcess> {}

/** Starts a Galera cluster of three nodes. Each can be killed and restarted; it then joins the others. */
export async function startGalera(): Promise<Galera> {
  const programs = await programsOf('mariadb');
  const [library] = await programsOf('galera');
  return withFreePorts(3 * PORTS, async (ports) => {
    const portsOf = (n: number) =>
      ports.slice(n * PORTS, (n + 1) * PORTS) as [number, number, number, number];
    const members = [0, 1, 2].map((n) => `127.0.0.1:${portsOf(n)[1]}`).join(',');
    const nodes = [0, 1, 2].map((n) => {
      const [client, group, part, whole] = portsOf(n);
      const provider = {
        'gmcast.listen_addr': `tcp://127.0.0.1:${group}`,
        'ist.recv_addr': `127.0.0.1:${part}`,
        'gcache.size': '16M',
      };
      const args = [
        '--binlog-format=ROW',
        '--innodb-autoinc-lock-mode=2',
        // As most have it: what a node loses in a crash, it gets from the others.
        '--innodb-flush-log-at-trx-commit=2',
        '--wsrep-on=ON',
        `--wsrep-provider=${library}`,
        '--wsrep-cluster-name=ids',
        `--wsrep-cluster-address=gcomm://${members}`,
        '--wsrep-node-address=127.0.0.1',
        `--wsrep-provider-options=${Object.entries(provider)
          .map((pair) => pair.join('='))
          .join(';')}`,
        '--wsrep-sst-method=rsync',
        `--wsrep-sst-receive-address=127.0.0.1:${whole}`,
      ];
      return mariadbServer(programs, [client, group, part, whole], { args }, (run, dir) =>
        // The first node begins a cluster, once. When it comes back, it joins like the others.
        n > 0 ? run : ['sh', '-c', FIRST, `${dir}/tmp-begun`, ...run],
      );
    });
    const cluster = new Galera(nodes);
    try {
      // One after the other: a node gets its data from one that is there.
      for (const node of nodes) await node.start();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  });
}

const FIRST = 'if [ -e "$0" ]; then exec "$@"; else touch "$0"; exec "$@" --wsrep-new-cluster; fi';
